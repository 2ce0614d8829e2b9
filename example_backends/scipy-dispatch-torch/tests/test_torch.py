"""The backend beside SciPy: the same values within the tolerance, or a reason to defer."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerances import TOLERANCES

from scipy_dispatch import backend_opts, fft, ndimage, signal
from scipy_dispatch.testing import SAMPLES, Call, Comparison, call, dispatchable
from scipy_dispatch.testing.strategies import FUNCTIONS, calls
from scipy_dispatch_torch import _tensors
from spatch_core import BackendDeferredError, NoImplementationError

TORCH = Comparison(
    "torch", TOLERANCES, torch.from_numpy, lambda x: x.detach().numpy(), scale_of_data=True
)
RANDOM = [name for name in FUNCTIONS if f"ndimage.{name}" in TOLERANCES]
DTYPES = ["float32", "float64", "uint8", "int16", "int64"]
IMAGE = np.random.default_rng(0).random((9, 11))


def test_each_function_has_a_tolerance() -> None:
    assert sorted(TOLERANCES) == TORCH.functions


@pytest.mark.parametrize("name", TORCH.functions)
def test_a_sample_of_each_function(name: str) -> None:
    TORCH.check(name, sample(name))


def sample(name: str) -> Call:
    """Return a call without the structure of grey morphology, which this backend does not have."""
    args, kwargs = SAMPLES[name]
    return Call(args, {key: each for key, each in kwargs.items() if key != "structure"})


def native(call: Call) -> Call:
    """Return a call with arrays that PyTorch can read: no negative strides."""
    return Call(tuple(map(_native, call.args)), {key: _native(v) for key, v in call.kwargs.items()})


def _native(value: Any) -> Any:
    return np.array(value) if type(value) is np.ndarray else value


@pytest.mark.parametrize("name", RANDOM)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_random_calls_of_filters(name: str, data: st.DataObject) -> None:
    TORCH.check(
        f"ndimage.{name}", native(data.draw(calls(name, DTYPES, finite=True))), may_defer=True
    )


MODES = ("full", "same", "valid")


@settings(deadline=None, max_examples=200)
@given(
    st.sampled_from(["convolve", "correlate", "fftconvolve", "oaconvolve"]),
    st.sampled_from(["float32", "float64", "complex64", "complex128"]),
    st.integers(1, 3),
    st.sampled_from(MODES),
    st.integers(0, 2**32),
)
def test_random_convolutions(name: str, dtype: str, ndim: int, mode: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    shapes = random.integers(1, 9, (2, ndim))
    arrays = (
        [(random.normal(size=shape) + 1j).astype(dtype) for shape in shapes]
        if dtype.startswith("c")
        else [random.normal(size=shape).astype(dtype) for shape in shapes]
    )
    TORCH.check(f"signal.{name}", call(*arrays, mode=mode), may_defer=mode == "valid")


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
def test_convolutions_of_images(name: str, mode: str, boundary: str) -> None:
    for dtype in ("float32", "complex128"):
        kernel = (IMAGE[:3, :4] + (1j if dtype[0] == "c" else 0)).astype(dtype)
        TORCH.check(
            f"signal.{name}", call(IMAGE.astype(dtype), kernel, mode=mode, boundary=boundary)
        )


@pytest.mark.parametrize("name", [name for name in TORCH.functions if name.startswith("fft")])
def test_transforms(name: str) -> None:
    settings: tuple[dict[str, Any], ...] = ({},)
    if "shift" not in name:
        by_axis = name.endswith(("2", "n"))
        settings = (
            *({"norm": norm} for norm in ("ortho", "forward", "backward")),
            {"s": (4, 6)} if by_axis else {"n": 7},
            {"axes": (1, 0)} if by_axis else {"axis": 0},
            {"workers": 2},
        )
    for dtype in ("float32", "float64", "complex64", "int16"):
        if dtype == "complex64" and name.startswith(("fft.rfft", "fft.ihfft")):
            continue
        for each in settings:
            TORCH.check(name, call((10 * IMAGE).astype(dtype), **each))


def test_gradients_flow() -> None:
    """They are those of finite differences, to the image and to a kernel of `signal`."""
    x = torch.from_numpy(IMAGE[:4, :5].copy()).requires_grad_()
    kernel = torch.from_numpy(IMAGE[4:6, :2].copy()).requires_grad_()
    for function in (
        lambda x: ndimage.gaussian_filter(x, 1.0, mode="mirror"),
        lambda x: ndimage.correlate(x, IMAGE[:2, :3], mode="constant"),
        lambda x: ndimage.sobel(x, 0),
        lambda x: ndimage.uniform_filter(x, 3),
        lambda x: ndimage.maximum_filter(x, 3),
        lambda x: ndimage.median_filter(x, 3),
        lambda x: ndimage.grey_dilation(x, footprint=IMAGE[:3, :3] > 0.5),
        lambda x: fft.irfft2(fft.rfft2(x), s=(4, 5)),
        lambda x: signal.hilbert(x).abs(),
    ):
        assert torch.autograd.gradcheck(function, x)
    for function in (signal.convolve, signal.fftconvolve, signal.correlate2d):
        assert torch.autograd.gradcheck(function, (x, kernel))


@pytest.mark.parametrize("name", TORCH.functions)
def test_the_device_and_the_type_stay(name: str) -> None:
    """Tensors without data show where a result would be and of which type."""
    given = TORCH.given(sample(name))
    expected = dispatchable(name)(*given.args, **given.kwargs)
    arrays = [each for each in given.args if isinstance(each, torch.Tensor)]
    if len(arrays) > 1 and name.startswith("ndimage"):
        pytest.skip("its weights are read")
    args = tuple(x.to("meta") if isinstance(x, torch.Tensor) else x for x in given.args)
    kwargs = {key: x for key, x in given.kwargs.items() if not isinstance(x, torch.Tensor)}
    kwargs |= {"size": 3} if "footprint" in given.kwargs else {}
    result = dispatchable(name)(*args, **kwargs)
    assert result.device.type == "meta"
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)


CALLS: dict[str, dict[str, Any]] = {"sobel": {}, "median_filter": {"size": 3}, "laplace": {}}


def test_an_output_is_filled() -> None:
    x, out = torch.from_numpy(IMAGE), torch.zeros(9, 11, dtype=torch.float64)
    for name, further in CALLS.items():
        assert getattr(ndimage, name)(x, output=out, **further) is out
        TORCH.check(f"ndimage.{name}", call(IMAGE, output=np.zeros_like(IMAGE), **further))


REFUSED: dict[str, tuple[str, Call, str]] = {
    "integers": ("ndimage.sobel", call(IMAGE.astype(int)), "int64; with SciPy's results"),
    "half": ("ndimage.sobel", call(IMAGE.astype("f2")), "is of torch.float16"),
    "complex": ("ndimage.median_filter", call(IMAGE * 1j, 3), "is of torch.complex128"),
    "type": ("ndimage.sobel", call(IMAGE, output=np.float32), "data type of the input"),
    "mode": ("ndimage.sobel", call(IMAGE, mode="foo"), "mode='foo' is an error in SciPy"),
    "size": ("ndimage.median_filter", call(IMAGE, 40), "1600 elements, more than 1024"),
    "structure": ("ndimage.grey_erosion", call(IMAGE, structure=np.ones((3, 3))), "structure="),
    "cval": (
        "ndimage.maximum_filter",
        call(IMAGE.astype("u1"), 3, mode="constant", cval=-1),
        "cval=-1 is no number of torch.uint8",
    ),
    "weights": ("ndimage.correlate1d", call(IMAGE, [1j]), "weights= is left to SciPy"),
    "valid": ("signal.convolve", call(IMAGE[:2], IMAGE, mode="valid"), "in2= is longer"),
    "plan": ("fft.fft", call(IMAGE, plan="a plan"), "plan='a plan'"),
}


@pytest.mark.parametrize("key", REFUSED)
def test_what_it_cannot_do_it_says(key: str) -> None:
    name, arguments, reason = REFUSED[key]
    assert reason in str(TORCH.why_deferred(name, arguments))
    given = TORCH.given(arguments)
    with pytest.raises(BackendDeferredError) as caught:
        dispatchable(name).invoke(backend="torch", force=True)(*given.args, **given.kwargs)
    assert reason in str(caught.value)
    with backend_opts(fallback="raise"), pytest.raises(NoImplementationError) as refusal:
        dispatchable(name)(*given.args, **given.kwargs)
    assert reason in str(refusal.value)


def test_conversion() -> None:
    x, out = torch.from_numpy(IMAGE), torch.zeros(9, 11, dtype=torch.float64)
    with backend_opts(fallback="convert"):
        turned = ndimage.rotate(x, 30.0, reshape=False)
        ndimage.shift(x, 1.5, output=out)
        assert float(ndimage.mean(x)) == pytest.approx(IMAGE.mean())
        with pytest.raises(NoImplementationError, match=r"pass x.detach\(\)"):
            ndimage.rotate(x.clone().requires_grad_(), 30.0)
        with pytest.raises(NoImplementationError, match=r"pass x.cpu\(\)"):
            ndimage.rotate(x.to("meta"), 30.0)
    np.testing.assert_array_equal(turned, scipy.ndimage.rotate(IMAGE, 30.0, reshape=False))
    np.testing.assert_array_equal(out, scipy.ndimage.shift(IMAGE, 1.5))


def test_examples_of_docstrings() -> None:
    result = doctest.testmod(_tensors)
    assert result.attempted
    assert not result.failed
