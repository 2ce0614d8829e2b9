"""Results equal SciPy's bit for bit, including warnings and errors."""

from __future__ import annotations

import types
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.signal import lti
from scipy_functions import FUNCTIONS, Function, forms

from scipy_dispatch.testing import Call, call
from scipy_dispatch.testing._samples import BLOBS, IMAGE, WAVE

if TYPE_CHECKING:
    from collections.abc import Callable

WITH_OUTPUT = [function for function in FUNCTIONS if "output" in function.parameters]
EQUAL_MEANS_SAME = (str, int, complex, type, np.dtype, np.ufunc, types.FunctionType)


def outcome(function: Callable[..., Any], call: Call) -> tuple[Any, ...]:
    """Return the outcome of a call: result or error, warnings, and the arguments afterwards."""
    args, kwargs = call.fresh()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - compare any error that SciPy raises
            result = error
    shown = [(each.category, str(each.message)) for each in caught]
    return result, shown, args, kwargs


def bits(value: Any) -> Any:
    """Return a value that is equal only for values that are equal bit for bit."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.hasobject:
            return type(value), value.shape, bits(value.tolist())
        return type(value), value.dtype, value.shape, value.tobytes()
    if isinstance(value, (tuple, list)):
        return type(value), [bits(item) for item in value]
    if isinstance(value, dict):
        return type(value), [(bits(key), bits(item)) for key, item in value.items()]
    if isinstance(value, slice):
        return slice, value.start, value.stop, value.step
    if isinstance(value, Exception):
        return type(value), str(value)
    if isinstance(value, float):
        return float, value.hex()
    if value is None or isinstance(value, EQUAL_MEANS_SAME):
        return type(value), value
    if getattr(value, "__dict__", None):
        return type(value), bits(vars(value))
    raise TypeError(f"cannot compare {value!r}")


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_result_is_the_same_in_every_form_of_the_call(function: Function) -> None:
    for form in forms(function.call, function.signature):
        expected = outcome(function.default, form)
        assert not isinstance(expected[0], Exception), expected[0]
        assert bits(outcome(function.dispatchable, form)) == bits(expected)


@pytest.mark.parametrize("function", WITH_OUTPUT, ids=str)
def test_output_is_filled_in_place(function: Function) -> None:
    args, kwargs = function.call
    if function.name == "label":
        output = np.zeros(BLOBS.shape, np.int32)
    else:
        output = np.zeros_like(function.default(*args, **kwargs))
    for form in forms(Call(args, {**kwargs, "output": output}), function.signature):
        expected = outcome(function.default, form)
        assert not isinstance(expected[0], Exception), expected[0]
        assert bits(outcome(function.dispatchable, form)) == bits(expected)
    own = output.copy()
    answer = function.dispatchable(*args, **kwargs, output=own)
    assert answer is own or function.default(*args, **kwargs, output=output) is not output
    assert own.tobytes() == output.tobytes() or own.any()


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_wrong_calls_fail_with_scipys_own_error(function: Function) -> None:
    """The wrapper neither adds nor hides errors."""
    args, kwargs = function.call
    for form in (call(), Call(args, {**kwargs, "no_such_parameter": 1})):
        expected = outcome(function.default, form)
        assert isinstance(expected[0], Exception)
        assert bits(outcome(function.dispatchable, form)) == bits(expected)


@pytest.mark.parametrize(
    ("module", "name", "form"),
    [
        ("ndimage", "gaussian_filter", call(IMAGE.tolist(), 1)),
        ("ndimage", "gaussian_filter", call(IMAGE.view(np.memmap), 1)),
        ("ndimage", "label", call([[1, 0], [0, 1]])),
        ("ndimage", "sum", call(2.5)),
        ("ndimage", "zoom", call(np.ma.masked_less(IMAGE, 0), 2)),
        ("ndimage", "median_filter", call(np.array(["a"]), 3)),
        ("ndimage", "affine_transform", call(IMAGE, [[1, 0], [0, 1]])),
        ("ndimage", "gaussian_filter", call(None, 1)),
        ("signal", "convolve", call([1, 2], (3, 4))),
        ("signal", "convolve", call(np.ones(3), np.ones((3, 3)))),
        ("signal", "gausspulse", call("cutoff")),
        ("signal", "butter", call(2, 0.5)),
        ("signal", "welch", call(WAVE, window="hamming", nperseg=16)),
        ("signal", "welch", call(WAVE, window=("kaiser", 4.0), nperseg=16)),
        ("signal", "freqz", call([1.0, 0.5], worN=8)),
        ("signal", "sweep_poly", call(WAVE, np.poly1d([1.0, 0.0]))),
        ("fft", "fft", call([1, 2, 3])),
        ("fft", "fft", call(1.0)),
        ("fft", "dct", call(np.float16(3) * np.ones(4, np.float16))),
    ],
)
def test_what_is_not_an_array_reaches_scipy(module: str, name: str, form: Call) -> None:
    function = Function(module, name)
    assert bits(outcome(function.dispatchable, form)) == bits(outcome(function.default, form))


@pytest.mark.parametrize("name", ["bode", "freqresp", "impulse", "step"])
def test_systems_may_be_objects(name: str) -> None:
    function = Function("signal", name)
    for system in (lti([1.0], [1.0, 0.5]), lti([], [-1.0], 2.0)):
        expected = outcome(function.default, call(system))
        assert not isinstance(expected[0], Exception)
        assert bits(outcome(function.dispatchable, call(system))[0]) == bits(expected[0])
