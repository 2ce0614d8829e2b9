"""One call of every function of the backend, for tests that apply to all of them."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from comparison import check
from tolerances import TOLERANCES

from scipy_dispatch.testing import SAMPLES, Comparison, call, scipy_function
from scipy_dispatch_dask._table import TABLES

_WAVE = SAMPLES["signal.detrend"].args[0]
_B, _A = SAMPLES["signal.lfilter"].args[:2]

# The samples of these have a second result, or a value for each element.
_CALLS = {
    **SAMPLES,
    "signal.lfilter": call(_B, _A, _WAVE),
    "signal.resample": call(_WAVE, 24, window=np.hanning(64)),
    "signal.sawtooth": call(_WAVE, 0.5),
    "signal.sosfilt": call(SAMPLES["signal.sosfilt"].args[0], _WAVE),
    "signal.square": call(_WAVE, 0.25),
}

SERVED = Comparison("dask", TOLERANCES).functions


def strategy_of(name: str) -> Any:
    """Return the strategy of a function."""
    module, _, function = name.partition(".")
    return TABLES[f"scipy_dispatch.{module}"][function]


def an_array(name: str) -> Any:
    """Return a suitable array for the function."""
    return _bound(name)[strategy_of(name).arrays[0]]


def arguments(name: str, x: Any) -> dict[str, Any]:
    """Return all arguments of the call by name, with `x` as the array."""
    return {**_bound(name), strategy_of(name).arrays[0]: x}


def check_sample(name: str, x: Any, lazy: Any) -> None:
    """Compare the call with another array with SciPy's."""
    others = _bound(name)
    parameter = strategy_of(name).arrays[0]
    del others[parameter]
    check(name, x, lazy, parameter=parameter, **others)


def _bound(name: str) -> dict[str, Any]:
    args, kwargs = _CALLS[name]
    return signature(scipy_function(name)).bind(*args, **kwargs).arguments
