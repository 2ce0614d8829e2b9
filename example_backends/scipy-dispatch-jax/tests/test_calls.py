"""Which calls the backend takes, the reasons where it defers, and SciPy's errors and warnings."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from comparison import scipy_function, why_deferred

from scipy_dispatch.testing import dispatchable
from spatch_core import BackendDeferredError

X = np.arange(42.0, dtype=np.float32).reshape(6, 7) % 5
J = jnp.asarray(X)
U = jnp.ones((2, 2), np.uint8)
BIG = np.array([2**40, 1])

REASONS: list[tuple[str, dict[str, Any], str]] = [
    ("ndimage.sobel", {"input": J, "output": np.zeros((6, 7))}, "output= is an array"),
    ("ndimage.sobel", {"input": J, "output": J}, "output= is an array"),
    ("ndimage.sobel", {"input": J, "output": np.float64}, "of JAX only with jax_enable_x64"),
    ("ndimage.sobel", {"input": J, "output": np.longdouble}, "data type"),
    ("ndimage.correlate1d", {"input": J, "weights": BIG}, "more than 32 bits"),
    ("ndimage.sobel", {"input": J * 1j, "output": np.float32}, "the result is complex"),
    ("ndimage.sobel", {"input": J, "cval": 1j}, "cval= is complex"),
    ("ndimage.median_filter", {"input": J, "size": 3, "mode": ["wrap"] * 2}, "mode= is a list"),
    ("ndimage.label", {"input": J, "output": np.int8}, "another data type than int32"),
    ("ndimage.label", {"input": J, "structure": np.tri(3)}, "structure= is not symmetric"),
    ("ndimage.label", {"input": J, "structure": np.zeros((3, 3))}, "connects nothing"),
    ("ndimage.distance_transform_edt", {"input": J, "return_indices": True}, "return_indices=True"),
    ("ndimage.binary_erosion", {"input": J, "output": np.uint8}, "another data type than bool"),
    ("ndimage.white_tophat", {"input": J, "size": 3, "output": np.int32}, "output= is given"),
    ("ndimage.grey_erosion", {"input": J > 1, "structure": np.ones((2, 2))}, "input= is of bool"),
    ("ndimage.spline_filter", {"input": J * 1j}, "the result is complex"),
    ("ndimage.mean", {"input": J * 1j}, "input= is of complex64, and this function takes"),
    ("signal.upfirdn", {"h": J[0], "x": J, "mode": "wrap"}, "extends signals by zeros"),
    ("signal.resample_poly", {"x": J, "up": 2, "down": 1, "padtype": "line"}, "by a constant"),
    ("signal.filtfilt", {"b": J[0], "a": J[1], "x": J, "method": "gust"}, "method='gust'"),
    ("signal.lfilter", {"b": [1], "a": [1, 2], "x": J.astype(int)}, "pass floats"),
    ("signal.filtfilt", {"b": [1.0], "a": [1.0], "x": J.astype(int)}, "padtype='odd' of integers"),
    ("signal.decimate", {"x": J.astype(int), "q": 2}, "pass floats"),
    ("signal.wiener", {"im": J.astype(int)}, "pass im.astype"),
    ("fft.fft", {"x": J, "plan": object()}, "plan="),
    ("fft.fft", {"x": J, "workers": 0}, "workers="),
    ("fft.fft", {"x": J, "n": 0}, "n= has a length of 0"),
    ("fft.dct", {"x": J * 1j, "orthogonalize": True}, "orthogonalize="),
    ("signal.convolve", {"in1": J, "in2": J > 1}, "in2= is of bool"),
    ("signal.convolve2d", {"in1": J[:2], "in2": J, "boundary": "wrap"}, "larger than in1="),
    ("signal.stft", {"x": J * 1j, "nperseg": 4}, "return_onesided=False"),
    ("signal.welch", {"x": J.astype(jnp.float16)}, "x= is of float16"),
    ("signal.welch", {"x": J.astype(jnp.float8_e5m2)}, "x= is of float8_e5m2, and this"),
    ("ndimage.sobel", {"input": J.astype(jnp.int4)}, "pass input.astype('float32')"),
    ("signal.csd", {"x": J, "y": J[:, :5], "nperseg": 4}, "same length"),
    ("signal.stft", {"x": J, "nperseg": 4, "detrend": np.negative}, "detrend= is no name"),
    ("signal.stft", {"x": J, "nperseg": 4, "fs": 0}, "fs= is no number greater"),
    ("signal.welch", {"x": J, "nperseg": 4, "fs": np.ones(1)}, "fs= is no number greater"),
    ("signal.welch", {"x": J, "nperseg": 4, "axis": 1.0}, "the arguments do not fit"),
    ("signal.stft", {"x": J, "nperseg": 4, "boundary": ["zeros"]}, "boundary= is no name"),
    ("ndimage.sobel", {"input": J, "output": np.float16}, "output= is float16"),
    ("ndimage.sobel", {"input": J, "output": np.complex64}, "the result is real"),
    ("ndimage.median_filter", {"input": J, "size": 3, "output": "c8"}, "the result is real"),
    ("ndimage.sobel", {"input": J, "cval": jnp.asarray(1j)}, "cval= is complex"),
    ("signal.istft", {"Zxx": J[:, :0]}, "Zxx= has no elements"),
    ("signal.istft", {"Zxx": J[:1], "nperseg": 4}, "Zxx= has one frequency"),
    ("fft.fft", {"x": J, "workers": -(10**6)}, "workers="),
    *[
        ("ndimage.maximum_filter", {"input": J, "size": 2, "cval": cval}, "cval= is not one number")
        for cval in ("a", None, [1.0], np.ones(1), J[0])
    ],
    ("ndimage.sobel", {"input": J, "cval": [0]}, "cval= is not one number"),
    ("ndimage.sobel", {"input": J.astype(int), "cval": 2**40}, "cval= has more than 32 bits"),
    ("ndimage.median_filter", {"input": J, "size": 3, "cval": 1j}, "cval= is complex"),
    ("ndimage.correlate1d", {"input": U, "weights": [2**40, 1, 0]}, "more than 32 bits"),
    ("ndimage.map_coordinates", {"input": J[:0], "coordinates": J[:2], "order": 1}, "no elements"),
    *[
        ("signal.convolve2d", {"in1": U, "in2": U, "fillvalue": value}, "fillvalue= is no uint8")
        for value in (300, -1, np.nan, 0.5)
    ],
    # The same for scalars, tuples and nested lists.
    *[
        ("signal.convolve", {"in1": J[0], "in2": value}, "in2= holds integers of more than 32")
        for value in ((2**40, 1), [BIG[0], 1], [J[0, 0], BIG[0]], [[1, 2], BIG])
    ],
    ("signal.convolve", {"in1": J[0, 0], "in2": BIG[0]}, "in2= holds integers of more than 32"),
    ("ndimage.correlate", {"input": J, "weights": (BIG, BIG)}, "more than 32 bits"),
    ("ndimage.sobel", {"input": J, "cval": np.str_("1")}, "cval= is not one number"),
    ("signal.istft", {"Zxx": J[:3], "window": np.ones(4) * 1j}, "window= is of complex"),
    ("signal.welch", {"x": J, "window": np.ones(4) * 1j}, "window= is of complex"),
    ("signal.stft", {"x": J.astype(int), "nperseg": 4, "boundary": "odd"}, "boundary='odd'"),
]


@pytest.mark.parametrize(("name", "arguments", "reason"), REASONS, ids=lambda each: str(each)[:25])
def test_the_reason_is_told(name: str, arguments: dict[str, Any], reason: str) -> None:
    """A call that is forced raises with it, and gives no wrong result."""
    assert reason in (why_deferred(name, **arguments) or "it was not deferred")
    with pytest.raises(BackendDeferredError, match=re.escape(reason)):
        dispatchable(name).invoke(backend="jax", force=True)(**arguments)


NO_ELEMENT: list[tuple[str, dict[str, Any], str]] = [
    ("ndimage.maximum_filter", {"input": U.astype(np.uint32), "size": 3, "cval": -1}, "no uint32"),
    ("ndimage.maximum_filter", {"input": J > 1, "size": 2, "cval": np.nan}, "no bool"),
    ("ndimage.maximum_filter", {"input": U, "size": 2, "output": np.int8, "cval": 200}, "no int8"),
    ("ndimage.grey_erosion", {"input": U, "size": 2, "cval": -2}, "no uint8"),
    ("ndimage.median_filter", {"input": U, "size": 3, "cval": -1}, "cval= is no uint8"),
    ("ndimage.median_filter", {"input": U, "size": 3, "cval": 0.5}, "cval= is no uint8"),
]


@pytest.mark.parametrize(
    ("name", "arguments", "reason"), NO_ELEMENT, ids=lambda each: str(each)[:25]
)
def test_fill_values_may_be_jax_arrays(name: str, arguments: dict[str, Any], reason: str) -> None:
    """Known fill values of integer arrays are checked as numbers: integers cannot hold all."""
    for value in (arguments["cval"], jnp.asarray(arguments["cval"])):
        given = {**arguments, "cval": value, "mode": "constant"}
        assert reason in (why_deferred(name, **given) or "it was not deferred")


TRACED: list[tuple[str, dict[str, Any], str]] = [
    ("ndimage.gaussian_filter", {"sigma": 1.0}, "sigma= is traced"),
    ("ndimage.uniform_filter", {"size": [3, 3]}, "size= is traced"),
    ("ndimage.percentile_filter", {"percentile": 20.0}, "percentile= is traced"),
    ("ndimage.minimum_filter", {"footprint": np.ones((2, 2), bool)}, "footprint= is traced"),
    ("fft.fft", {"n": 3}, "n= is traced"),
]


@pytest.mark.parametrize(("name", "settings", "reason"), TRACED, ids=lambda each: str(each)[:25])
def test_settings_must_be_known(name: str, settings: dict[str, Any], reason: str) -> None:
    """A traced setting is rejected by its type; its value is never read."""
    reasons = []

    def look(settings: Any) -> Any:
        reasons.append(why_deferred(name, J, **settings))
        return 0

    jax.jit(look)(settings)
    assert reason in (reasons[0] or "it was not deferred")


def test_settings_may_be_jax_arrays_with_values() -> None:
    """SciPy accepts them too."""
    sigma = jnp.asarray(1.5)
    assert why_deferred("ndimage.gaussian_filter", J, sigma) is None
    np.testing.assert_allclose(
        np.asarray(dispatchable("ndimage.gaussian_filter")(J, sigma)),
        scipy_function("ndimage.gaussian_filter")(X, 1.5),
        atol=1e-5,
    )


LISTS: list[tuple[str, tuple[Any, ...]]] = [
    ("signal.convolve", ([1.0, 2.0],)),
    ("signal.correlate", ((1, 2, 3),)),
    ("signal.fftconvolve", ([1.0, np.float32(2)],)),
    ("signal.convolve2d", ([[1.0, 2.0]],)),
    ("signal.correlate2d", ([(1, 2), np.array([3, 4])],)),
    ("signal.csd", (list(X[0]),)),
    ("ndimage.correlate1d", ((1, 2, 1),)),
    ("ndimage.map_coordinates", ([[0.5, 1.0]], None, 1)),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("name", "args"), LISTS, ids=[each[0] for each in LISTS])
def test_lists_and_tuples_are_arrays(name: str, args: Any) -> None:
    """Lists may be beside, before or around JAX arrays, and traced; no warning is issued."""
    x = J[0] if not name.endswith("2d") else J
    y = np.asarray(x)
    settings = {"nperseg": 4} if name.endswith("csd") else {}
    if name.endswith("csd"):
        args = (y.tolist(),)

    def last(result: Any) -> Any:
        return result[-1] if isinstance(result, tuple) else result

    expected = last(scipy_function(name)(y, *args, **settings))
    other = jnp.asarray(args[0])
    for given in ((x, *args), (y.tolist(), other, *args[1:]), (list(x), other, *args[1:])):
        assert why_deferred(name, *given, **settings) is None
        result = last(dispatchable(name)(*given, **settings))
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5, atol=1e-5)
    function = dispatchable(name)
    traced = jax.jit(lambda x: last(function(list(x), other, *args[1:], **settings)))(x)
    np.testing.assert_allclose(np.asarray(traced), expected, rtol=1e-5, atol=1e-5)


ERRORS: list[tuple[str, dict[str, Any]]] = [
    ("ndimage.sobel", {"input": X, "mode": "sideways"}),
    ("ndimage.sobel", {"input": X, "no_such_argument": 2}),
    ("ndimage.sobel", {"input": X, "output": "no type"}),
    ("ndimage.median_filter", {"input": X}),
    ("ndimage.median_filter", {"input": X, "size": 1, "origin": -1}),
    ("ndimage.uniform_filter1d", {"input": X, "size": 0}),
    ("ndimage.correlate", {"input": X, "weights": np.ones(2)}),
    ("ndimage.correlate", {"input": X, "weights": np.eye(2), "mode": ["nearest", "reflect"]}),
    ("ndimage.gaussian_filter", {"input": X, "sigma": 1, "axes": (0, 0)}),
    ("ndimage.gaussian_filter", {"input": X, "sigma": "wide"}),
    ("ndimage.gaussian_filter1d", {"input": X, "sigma": 1, "radius": -1}),
    ("ndimage.gaussian_filter1d", {"input": X, "sigma": 1, "order": -1}),
    ("ndimage.rank_filter", {"input": X, "rank": 9, "size": 3}),
    ("ndimage.percentile_filter", {"input": X, "percentile": np.nan, "size": 3}),
    ("ndimage.map_coordinates", {"input": X, "coordinates": X[:2], "order": 0.5}),
    ("fft.fft", {"x": X, "norm": "loud"}),
    ("fft.irfft", {"x": X, "n": -1}),
    ("fft.fftn", {"x": X, "s": (3, 3, 3)}),
    ("fft.dct", {"x": X[:, :1], "type": 1}),
    ("fft.fftshift", {"x": X, "axes": 1.0}),
    ("signal.convolve", {"in1": X, "in2": X[0]}),
    ("signal.convolve2d", {"in1": X[0], "in2": X[0]}),
    ("signal.detrend", {"data": X, "bp": 3.5}),
    ("signal.stft", {"x": X, "nperseg": 4, "noverlap": 4}),
    ("signal.istft", {"Zxx": X + 0j, "time_axis": 5}),
    ("signal.lfilter", {"x": X[0], "b": np.ones(3), "a": np.ones(1), "zi": np.ones(1)}),
]


@pytest.mark.parametrize(("name", "arguments"), ERRORS, ids=lambda each: str(each)[:40])
def test_errors_are_scipy_s(name: str, arguments: dict[str, Any]) -> None:
    """Errors have the same type, also inside jit, where SciPy cannot run."""
    given = {
        key: jnp.asarray(value) if isinstance(value, np.ndarray) else value
        for key, value in arguments.items()
    }
    with pytest.raises(Exception) as expected:  # noqa: PT011 - compare any error that SciPy raises
        scipy_function(name)(**arguments)
    with pytest.raises(type(expected.value)):
        dispatchable(name)(**given)
    first = next(iter(given))
    with pytest.raises(type(expected.value)):
        jax.jit(lambda x: dispatchable(name)(**{**given, first: x}))(given[first])


WARNINGS: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("signal.welch", (J,), {}, "nperseg"),
    ("signal.stft", (J,), {"nperseg": 9}, "nperseg"),
    ("signal.istft", (J * 1j,), {"window": np.eye(10)[0]}, "NOLA"),
    ("ndimage.maximum_filter", (J, 3), {"footprint": np.eye(2)}, "ignoring size"),
    ("ndimage.median_filter", (J, 3), {"footprint": np.eye(3)}, "ignoring size"),
]


@pytest.mark.parametrize(("name", "args", "settings", "text"), WARNINGS)
def test_warnings_are_scipy_s(name: str, args: Any, settings: dict[str, Any], text: str) -> None:
    """Warnings point to the caller's line, also inside jit."""
    with pytest.warns(UserWarning, match=text):
        expected = scipy_function(name)(np.asarray(args[0]), *args[1:], **settings)
    assert why_deferred(name, *args, **settings) is None
    with pytest.warns(UserWarning, match=text) as caught:
        result = dispatchable(name)(*args, **settings)
    assert [each.filename for each in caught] == [__file__]
    first, second = (each[-1] if isinstance(each, tuple) else each for each in (result, expected))
    np.testing.assert_allclose(np.asarray(first), second, atol=1e-5)
    with pytest.warns(UserWarning, match=text):
        jax.jit(lambda x: dispatchable(name)(x, *args[1:], **settings))(args[0])
