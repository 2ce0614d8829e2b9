"""The samples of `scipy_dispatch.testing` for the functions of the backend, by their data."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from comparison import scipy_function
from tolerances import TOLERANCES

from scipy_dispatch.testing import SAMPLES

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
