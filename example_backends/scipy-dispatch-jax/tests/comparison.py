"""Helpers of the tests: the same call with SciPy's arrays and with JAX's."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tolerances import TOLERANCES

from scipy_dispatch.testing import Comparison, call, dispatchable, scipy_function

__all__ = ["MODES", "check", "dispatchable", "has_64_bits", "scipy_function", "why_deferred"]

MODES = (
    *("reflect", "mirror", "nearest", "wrap", "constant"),
    *("grid-mirror", "grid-wrap", "grid-constant"),
)
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
    explanation = dispatchable(name).explain(*args, **kwargs)
    if explanation.selected == "jax":
        return None
    (reason,) = (each.reason for each in explanation.backends if each.backend == "jax")
    return reason


def check(name: str, *args: Any, **kwargs: Any) -> None:
    """Compare a call with JAX arrays to SciPy's call with the same NumPy arrays.

    If SciPy raises an error, so must the backend. It must not warn where SciPy does not.
    """
    comparison, numpys = COMPARISONS[has_64_bits()], call(*args, **kwargs)
    given = comparison.given(numpys)
    try:
        with np.errstate(invalid="ignore"):  # NumPy warns about infinities
            expected = scipy_function(name)(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - the backend must raise any error that SciPy raises
        with pytest.raises(type(error)):
            dispatchable(name)(*given.args, **given.kwargs)
        return
    reason = why_deferred(name, *given.args, **given.kwargs)
    assert reason is None, reason
    result = dispatchable(name)(*given.args, **given.kwargs)
    assert any(isinstance(each, jax.Array) for each in jax.tree.leaves(result))
    comparison.assert_agrees(name, numpys, result, expected)
