"""Of which type SciPy's results are: the table of the offloading backend, without a GPU."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from calls import OFFLOADED_NAMES, SERVED
from comparison import quietly, scipy_function
from scipy_calls import CALLS

from scipy_dispatch_cupy._call import Call, scipy_signature
from scipy_dispatch_cupy._limits import RULES
from scipy_dispatch_cupy._map import FUNCTIONS
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


CONVOLUTIONS = {
    f"signal.{name}": args
    for name, args in {
        **dict.fromkeys(("convolve", "correlate", "fftconvolve", "oaconvolve"), ((9, 8), (3, 2))),
        **dict.fromkeys(("convolve2d", "correlate2d"), ((9, 8), (3, 2))),
        "upfirdn": ((3,), (9, 8)),
    }.items()
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_the_type_of_the_result_of_two(name: str) -> None:
    """All pairs of types, also where one of the arrays has one element along an axis."""
    module, _, function = name.partition(".")
    first, second = CONVOLUTIONS[name]
    for one, two in product([*TYPES, "uint16"], repeat=2):
        for shape in {second, (1,) * len(second), (*second[:-1], 1)}:
            args = (np.ones(first, one), np.ones(shape, two))
            call = Call.bind(module, function, args, {})
            rules = RULES.get((module, function), ())
            if _why_not_offload(call) or any(rule(call) for rule in rules):
                continue
            expected = quietly(scipy_function(name), *args)
            result = quietly(_as_scipy_returns_it, expected.astype(complex), call)
            assert result.dtype == expected.dtype, (one, two, shape)


@pytest.mark.parametrize("module", FUNCTIONS)
def test_types_that_scipy_refuses_are_refused(module: str) -> None:
    """Of each array of each sample call. CuPy would take most of them, and drop parts of them."""
    taken = []
    for name in (name for name in SERVED if name.startswith(f"{module}.")):
        function = name.partition(".")[2]
        for position, given in enumerate(CALLS[module][function].fresh()[0]):
            if not isinstance(given, np.ndarray) or given.dtype.kind not in "biufc":
                continue
            for dtype in ("int16", "float32", "complex64"):
                args, kwargs = CALLS[module][function].fresh()
                changed = given.real.astype(dtype)
                args = (*args[:position], changed, *args[position + 1 :])
                try:
                    quietly(scipy_function(name), *args, **kwargs)
                except TypeError:
                    call = Call.bind(module, function, args, kwargs)
                    if not any(rule(call) for rule in RULES.get((module, function), ())):
                        taken.append(f"{name}: argument {position} of {dtype}")
                except (ValueError, ZeroDivisionError, AttributeError):
                    pass  # the values are to blame
    assert not taken, "\n".join(taken)


@pytest.mark.parametrize("module", FUNCTIONS)
def test_arguments_get_their_names_as_python_gives_them(module: str) -> None:
    """Of every function's sample call, by position and by name; what does not fit is refused."""
    for name in (name for name in SERVED if name.startswith(f"{module}.")):
        function = name.partition(".")[2]
        args, kwargs = CALLS[module][function].fresh()
        try:
            signature = scipy_signature(module, function)
        except ImportError:
            continue  # SciPy hides it, so that CuPy's counts, which is not here
        arguments = dict(signature.bind(*args, **kwargs).arguments)
        arguments |= arguments.pop("kwargs", {})
        assert Call.bind(module, function, args, kwargs).given.keys() == arguments.keys()
        wrong = [
            ((), {}),
            ((*args, *[0] * 30), kwargs),
            (args, {**kwargs, next(iter(arguments)): 0}),
        ]
        for values, names in wrong:
            with pytest.raises(TypeError):
                Call.bind(module, function, values, names)
