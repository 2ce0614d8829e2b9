"""A call of every function, which must be shared among threads: the samples of the test kit."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from scipy_dispatch.calls import signature_of
from scipy_dispatch.testing import SAMPLES
from scipy_dispatch_threads._table import TABLE


def _arguments(name: str) -> dict[str, Any]:
    """Return the arguments of the sample by name, without the array."""
    args, kwargs = SAMPLES[f"ndimage.{name}"]
    bound = signature_of(getattr(ndimage, name)).bind(*args, **kwargs)
    return {key: value for key, value in bound.arguments.items() if key != "input"}


CALLS = {name: _arguments(name) for name in TABLE}


def an_array(name: str) -> np.ndarray[Any, Any]:
    """Return an array for the call."""
    array: np.ndarray[Any, Any] = SAMPLES[f"ndimage.{name}"].args[0]
    return np.stack([array] * 5) if name == "rotate" else array
