"""Helpers of the tests: sample calls, each with SciPy's arrays and with JAX's."""

from __future__ import annotations

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tolerances import TOLERANCES

from scipy_dispatch import testing
from scipy_dispatch.testing import SAMPLES, Comparison, call, dispatchable, scipy_function

# JAX's counterparts of data types without double precision.
_NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}
# Without double precision, SciPy's doubles are compared as single precision is.
_KINDS = {"integers": "integers32", "single": "single", "double": "single"}


def _comparison(double: bool) -> Comparison:
    tables = {
        name: {
            kind: kinds[kind if double else other]
            for kind, other in _KINDS.items()
            if (kind if double else other) in kinds
        }
        for name, kinds in TOLERANCES.items()
    }
    return Comparison(
        "jax",
        tables,
        to_array=jnp.asarray,
        to_numpy=np.asarray,
        scale_of_data=True,
        dtype_of=lambda dtype: dtype if double else np.dtype(_NARROW.get(dtype.name, dtype)),
    )


COMPARISONS = {double: _comparison(double) for double in (True, False)}


def has_64_bits() -> bool:
    return bool(jax.config.jax_enable_x64)


def why_deferred(name: str, *args: Any, **kwargs: Any) -> str | None:
    """Return why the backend leaves a call to SciPy; None if it does not."""
    return testing.why_deferred("jax", name, *args, **kwargs)


def check(name: str, *args: Any, **kwargs: Any) -> None:
    """Compare a call with JAX arrays, which the backend takes, to SciPy's with NumPy arrays.

    The backend must not warn where SciPy does not.
    """
    comparison, numpys = COMPARISONS[has_64_bits()], call(*args, **kwargs)
    given = comparison.given(numpys)
    reason = why_deferred(name, *given.args, **given.kwargs)
    assert reason is None, reason
    with np.errstate(invalid="ignore"):  # NumPy warns about infinities
        expected = scipy_function(name)(*args, **kwargs)
    result = dispatchable(name)(*given.args, **given.kwargs)
    comparison.assert_agrees(name, numpys, result, expected)


FUNCTIONS = list(TOLERANCES)
# Results that are counts, places or true and false have no slopes.
STEPS = ("ndimage.binary_", "ndimage.label", "ndimage.distance", "_position", "ndimage.extrema")
# Other parameters come before these.
_DATA = ("x", "input", "volume", "data", "in1", "im", "Zxx")


class Sample:
    """A call of a function, of which the data are separate.

    Attributes
    ----------
    data : numpy.ndarray
        The data: an image or a signal.
    kwargs : dict
        The arguments by name, which are no data.
    """

    def __init__(self, name: str) -> None:
        call = SAMPLES[name].fresh()
        names = list(inspect.signature(scipy_function(name)).parameters)
        self._place = next((names.index(each) for each in _DATA if each in names), 0)
        self._args, self.kwargs = list(call.args), call.kwargs
        self.data: np.ndarray = np.asarray(self._args[self._place])
        self.kwargs.pop("return_indices", None)  # which is left to SciPy
        if "position" in name or "extrema" in name:  # of equal extremes, SciPy's place is its own
            ranks = self.data.ravel().argsort().argsort()
            self.data = ranks.reshape(self.data.shape).astype(float)

    def args(self, data: Any) -> tuple[Any, ...]:
        """Return the arguments by position, with these data."""
        return (*self._args[: self._place], data, *self._args[self._place + 1 :])

    def with_reals(self, dtype: Any) -> Sample:
        """Convert arrays of real numbers that are no data, such as weights."""

        def converted(value: Any) -> Any:
            is_real = isinstance(value, np.ndarray) and value.dtype.kind == "f"
            return value.astype(dtype) if is_real else value

        self._args = list(map(converted, self._args))
        self.kwargs = {name: converted(each) for name, each in self.kwargs.items()}
        return self
