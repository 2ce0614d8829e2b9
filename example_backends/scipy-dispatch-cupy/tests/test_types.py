"""Data types of SciPy's results: the table of the offloading backend, without a GPU."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from calls import OFFLOADED_NAMES, SERVED
from comparison import quietly, scipy_function

from scipy_dispatch.testing import SAMPLES
from scipy_dispatch.testing._samples import IMAGE
from scipy_dispatch_cupy._call import Call, scipy_signature
from scipy_dispatch_cupy._limits import RULES
from scipy_dispatch_cupy._map import FUNCTIONS
from scipy_dispatch_cupy.offload._implement import _why_not_offload
from scipy_dispatch_cupy.offload._result import as_scipy_returns_it, result_size

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
    """Return the array with another type; masks and footprints stay as they are."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        value = value if dtype.startswith("complex") else value.real
        return (10 * value).astype(dtype) if np.dtype(dtype).kind in "iub" else value.astype(dtype)
    return value


def of_another_type(result: np.ndarray) -> np.ndarray:
    """Return the result in another precision, as CuPy might compute it."""
    return result.astype(np.result_type(result.dtype, np.float64))


@pytest.mark.parametrize("name", OFFLOADED_NAMES)
def test_the_type_shape_and_size_of_the_result(name: str) -> None:
    module, _, function = name.partition(".")
    checked = 0
    for dtype in TYPES:
        args, kwargs = SAMPLES[name].fresh()
        args = (cast(args[0], dtype), *args[1:])
        if module == "signal":
            args = tuple(cast(each, dtype) for each in args)
        kwargs.pop("window", None)
        kwargs.pop("return_indices", None)
        if name == "signal.resample":
            kwargs.pop("t", None)
        if "spline_filter" in name:
            kwargs["mode"] = "mirror"  # the lines are short
        call = Call.bind(module, function, args, kwargs)
        if _why_not_offload(call) or any(rule(call) for rule in RULES.get((module, function), ())):
            continue
        try:
            expected = quietly(scipy_function(name), *args, **kwargs)
        except (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError):
            continue  # the function rejects this type
        if isinstance(expected, tuple):
            expected = expected[0]
        checked += 1
        result = as_scipy_returns_it(of_another_type(expected), call)
        assert result is not NotImplemented, "the shape is another one"
        assert result.dtype == expected.dtype, dtype
        assert expected.size <= result_size(call)
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
    """All pairs of types are tested, also for arrays with one element along an axis."""
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
            result = as_scipy_returns_it(of_another_type(expected), call)
            assert result is not NotImplemented, "the shape is another one"
            assert result.dtype == expected.dtype, (one, two, shape)


@pytest.mark.parametrize("module", FUNCTIONS)
def test_types_that_scipy_refuses_are_refused(module: str) -> None:
    """For each array of each sample call. CuPy would accept most of these types and lose data."""
    taken = []
    for name in (name for name in SERVED if name.startswith(f"{module}.")):
        function = name.partition(".")[2]
        for position, given in enumerate(SAMPLES[name].fresh()[0]):
            if not isinstance(given, np.ndarray) or given.dtype.kind not in "biufc":
                continue
            for dtype in ("int16", "float32", "complex64"):
                args, kwargs = SAMPLES[name].fresh()
                changed = given.real.astype(dtype)
                args = (*args[:position], changed, *args[position + 1 :])
                try:
                    quietly(scipy_function(name), *args, **kwargs)
                except TypeError:
                    call = Call.bind(module, function, args, kwargs)
                    if not any(rule(call) for rule in RULES.get((module, function), ())):
                        taken.append(f"{name}: argument {position} of {dtype}")
                except (ValueError, ZeroDivisionError, AttributeError):
                    pass  # the values cause the error
    assert not taken, "\n".join(taken)


@pytest.mark.parametrize("module", FUNCTIONS)
def test_arguments_get_their_names_as_python_gives_them(module: str) -> None:
    """For each sample call, by position and by name; arguments that do not fit are rejected."""
    for name in (name for name in SERVED if name.startswith(f"{module}.")):
        function = name.partition(".")[2]
        args, kwargs = SAMPLES[name].fresh()
        try:
            signature = scipy_signature(module, function)
        except ImportError:
            continue  # without SciPy's signature, CuPy's applies, which is not available here
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


SHAPES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("ndimage.zoom", (IMAGE, (1.37, 0.71)), {}),
    ("ndimage.zoom", (IMAGE, 2.5), {"grid_mode": True, "mode": "nearest"}),
    ("ndimage.rotate", (IMAGE, 30), {}),
    ("ndimage.rotate", (IMAGE, 30), {"reshape": False}),
    ("ndimage.affine_transform", (IMAGE, [2, 0.5]), {"output_shape": (4, 9)}),
    ("ndimage.map_coordinates", (IMAGE, np.ones((2, 3, 5))), {}),
    *(
        (f"signal.{name}", (IMAGE, kernel), {"mode": mode})
        for name in ("convolve", "correlate2d", "fftconvolve", "oaconvolve")
        for kernel in (IMAGE[:2, :3], np.ones((9, 11)))
        for mode in ("full", "same", "valid")
    ),
    ("signal.fftconvolve", (IMAGE, IMAGE[:, :3]), {"axes": 1}),
    ("signal.resample", (IMAGE, 9), {"axis": 1}),
    ("signal.hilbert", (IMAGE, 20), {}),
    ("fft.fft", (IMAGE, 20, 0), {}),
    ("fft.irfft", (IMAGE, 20, 0), {}),
    ("fft.dct", (IMAGE,), {"n": 3}),
    ("fft.fft2", (IMAGE, (3, 20)), {}),
    ("fft.rfft2", (IMAGE,), {}),
    ("fft.ihfft", (IMAGE,), {"axis": 0}),
    ("fft.irfftn", (IMAGE,), {"axes": 0}),
    ("fft.fftn", (IMAGE, IMAGE.shape), {"axes": (1, 0)}),
    ("fft.irfft2", (IMAGE, IMAGE.shape), {}),
    ("fft.hfft2", (IMAGE, (-1, 5)), {"axes": (1, 0)}),
    ("fft.rfftn", (IMAGE, (-1, 5)), {"axes": (1, 0)}),
    ("fft.dctn", (IMAGE,), {"s": -1}),
]


@pytest.mark.parametrize(
    ("name", "args", "kwargs"), SHAPES, ids=[f"{each[0]}-{n}" for n, each in enumerate(SHAPES)]
)
def test_the_shape_of_the_result(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """SciPy's shape is accepted, for any settings; other shapes are rejected if a rule exists."""
    module, _, function = name.partition(".")
    call = Call.bind(module, function, args, kwargs)
    expected = scipy_function(name)(*args, **kwargs)
    assert as_scipy_returns_it(expected, call).shape == expected.shape
    assert expected.size <= result_size(call)
    if module == "fft":
        assert as_scipy_returns_it(expected[1:], call) is NotImplemented
    if expected.dtype.kind != "c":
        assert as_scipy_returns_it(expected * 1j, call) is NotImplemented
