"""Of which type SciPy's results are: the table of the offloading backend, without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calls import OFFLOADED_NAMES
from comparison import quietly, scipy_function
from scipy_calls import CALLS

from scipy_dispatch_cupy._call import Call
from scipy_dispatch_cupy._limits import RULES
from scipy_dispatch_cupy.offload._implement import (
    _as_scipy_returns_it,
    _result_size,
    _why_not_offload,
)

TYPES = [
    "bool",
    "uint8",
    "int16",
    "int32",
    "int64",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def cast(value: Any, dtype: str) -> Any:
    """Return an array of another type, masks and footprints as they are."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        value = value if dtype.startswith("complex") else value.real
        return (10 * value).astype(dtype) if np.dtype(dtype).kind in "iub" else value.astype(dtype)
    return value


@pytest.mark.parametrize("name", OFFLOADED_NAMES)
def test_the_type_and_size_of_the_result(name: str) -> None:
    module, _, function = name.partition(".")
    checked = 0
    for dtype in TYPES:
        args, kwargs = CALLS[module][function].fresh()
        args = (cast(args[0], dtype), *args[1:])
        if module == "signal":
            args = tuple(cast(each, dtype) for each in args)
        kwargs.pop("window", None)
        kwargs.pop("return_indices", None)
        if name == "signal.resample":
            kwargs.pop("t", None)
        call = Call.bind(module, function, args, kwargs)
        if _why_not_offload(call) or any(rule(call) for rule in RULES.get((module, function), ())):
            continue
        try:
            expected = quietly(scipy_function(name), *args, **kwargs)
        except (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError):
            continue  # no function for this type
        if isinstance(expected, tuple):
            expected = expected[0]
        checked += 1
        other = expected.astype(np.result_type(expected.dtype, np.complex64))
        result = quietly(_as_scipy_returns_it, other, call)
        assert result.dtype == expected.dtype, dtype
        assert expected.size <= _result_size(call)
    assert checked
