"""Calls that are left to SciPy, and the reasons shown to users, with NumPy arrays for CuPy's."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest
from calls import present
from scipy import signal
from standin import write_standin

from spatch_core.testing import run_python

X = np.arange(42.0).reshape(6, 7)

REASONS: list[tuple[str, str, str]] = [
    ("ndimage.sobel", "x, mode=['wrap', 'reflect']", "cupy#9760"),
    ("ndimage.find_objects", "np.array(1)", "without dimensions"),
    ("ndimage.prewitt", "x.astype('u4')", "another number of uint32"),
    ("ndimage.correlate", "x.astype('c16'), ones, mode='constant', cval=1", "cupy#8405"),
    ("ndimage.minimum_filter", "x, 3, mode='constant', cval=np.nan", "that is not a number"),
    ("ndimage.shift", "x.astype('i4'), 1, cval=np.inf", "cval=inf is no number of int32"),
    ("ndimage.gaussian_filter1d", "x, 1, radius=3", "CuPy's gaussian_filter1d has no radius="),
    ("ndimage.generic_filter", "x, np.max, 3", "pass a cupy.RawKernel"),
    ("ndimage.gaussian_filter", "x, (1, -1)", "negative"),
    ("signal.csd", "x[0], x[1], nperseg=4, average='median'", "order of their real parts"),
    ("signal.lombscargle", "b, b, b, precenter=True, normalize=True", "is not centred yet"),
    ("signal.welch", "x[0], nperseg=4, window='parzen'", "another one than SciPy's"),
    ("signal.stft", "x[0], nperseg=4, window=('taylor', 4, 30)", "no window 'taylor'"),
    ("signal.fftconvolve", "x, x[:0]", "in2= is empty"),
    ("ndimage.rotate", "x, 90", "cupy#8400"),
    ("ndimage.rotate", "ones[None], 30, prefilter=False", "smooths along the axes that"),
    ("ndimage.rotate", "ones[None], 30, order=2, prefilter=False", "smooths along the axes that"),
    ("ndimage.zoom", "x * 1j, 2, grid_mode=True, mode='nearest'", "drops grid_mode= for complex"),
    ("ndimage.zoom", "x, 0.9, cval=5", "takes 0 for any cval="),
    ("ndimage.shift", "x[:, :1], 0.5, order=1, mode='wrap'", "of one element mode='wrap'"),
    ("ndimage.rank_filter", "x, 0, size=(1, 3), axes=(1, 0)", "turns the window twice"),
    ("ndimage.median_filter", "x, (1, 2), axes=(-1, 0)", "turns the window twice"),
    ("ndimage.grey_erosion", "x, (1, 2), axes=(1, 0)", "turns the window twice"),
    ("ndimage.binary_erosion", "x > 3, None, 2, x > 5, x * 1", "SciPy loses its way"),
    ("signal.convolve2d", "x, ones, fillvalue=np.inf", "weights of 0"),
    ("signal.correlate2d", "x, ones, fillvalue=np.nan", "weights of 0"),
    ("ndimage.zoom", "x > 3, 2", "booleans"),
    ("ndimage.rotate", "x > 3, 30, order=0, cval=0.5", "booleans"),
    ("ndimage.rotate", "x, np.int64(-180)", "cupy#8400"),
    ("ndimage.rotate", "x, np.float32(90)", "cupy#8400"),
    ("ndimage.rotate", "x, cupy.asarray(90.0)", "cupy#8400"),
    ("ndimage.shift", "x, 0.5, mode='reflect'", "from 24 elements on for mode='reflect'"),
    ("ndimage.shift", "x, 0.5, mode='reflect', order=np.int64(2)", "and there are 6"),
    ("ndimage.spline_filter", "x, mode='nearest'", "from 24 elements on for mode='nearest'"),
    ("ndimage.spline_filter1d", "x, 5, 1, mode='reflect'", "and there are 7"),
    ("ndimage.gaussian_filter", "x > 3, 1", "pass output=float"),
    ("ndimage.uniform_filter", "x, 3, output=bool", "pass output=float"),
    ("ndimage.shift", "x, 0.5, output=np.bool_", "pass output=float"),
    ("ndimage.correlate", "x, ones * 1j, output=float", "output= is of float64, for complex"),
    ("ndimage.correlate1d", "x * 1j, b, output='f4'", "output= is of float32, for complex"),
    ("ndimage.zoom", "x * 1j, 2, output=float", "output= is of float64, for complex"),
    ("ndimage.spline_filter", "x * 1j", "pass output=complex"),
    ("ndimage.gaussian_filter", "x, 1, output=complex", "does not fill with real numbers"),
    ("ndimage.sobel", "x, mode='constant', cval=3", "in another order"),
    ("ndimage.prewitt", "x, 1, mode='constant', cval=np.nan", "in another order"),
    ("ndimage.sobel", "x, output=np.int16", "cut off to int16"),
    ("ndimage.prewitt", "ones[None], -2, 'u1'", "cut off to uint8"),
    ("ndimage.uniform_filter", "x, 3, mode='constant', cval=np.nan", "keeps cval=nan"),
    ("ndimage.uniform_filter1d", "x, 3, mode='constant', cval=np.inf", "keeps cval=inf"),
    ("ndimage.correlate1d", "x, [0, 1, 1], mode='constant', cval=np.inf", "weights of 0"),
    ("ndimage.convolve1d", "x, b, mode='constant', cval=np.nan", "weights of 0"),
    ("ndimage.gaussian_filter", "x, 1, 1, mode='constant', cval=np.inf", "weights of 0"),
    ("ndimage.gaussian_laplace", "x, 1, mode='constant', cval=np.nan", "weights of 0"),
    ("ndimage.gaussian_filter", "x, 0.1, order=1", "a derivative whose radius is 0"),
    ("ndimage.gaussian_filter", "x, (1, 2), (0, 1), radius=(2, 0)", "whose radius is 0"),
    ("ndimage.gaussian_laplace", "x, (1, 0.1)", "whose radius is 0"),
    ("ndimage.gaussian_gradient_magnitude", "x, 1, truncate=0.2", "whose radius is 0"),
    ("ndimage.gaussian_gradient_magnitude", "x, 1, axes=()", "takes no empty axes="),
    ("ndimage.gaussian_gradient_magnitude", "x.astype('i2'), 1", "squares of int16 wrap round"),
    ("ndimage.gaussian_laplace", "x.astype('u1'), 1", "wraps round in uint8"),
    ("ndimage.gaussian_filter1d", "x.astype('u2'), 1, order=1", "wraps round in uint16"),
    ("ndimage.binary_fill_holes", "x > 3, [[0, 0, 0], [1, 1, 1], [0, 0, 0]]", "other holes"),
    ("ndimage.binary_fill_holes", "x[0] > 3", "one end"),
    ("ndimage.label", "x, [[0, 0, 0], [0, 1, 1], [0, 0, 0]]", "not symmetric"),
    ("ndimage.grey_erosion", "x.astype('f4'), structure=ones", "adds structure= as float32"),
    ("ndimage.white_tophat", "x.astype('u1'), 3, structure=ones", "as uint8, and SciPy as"),
    ("ndimage.grey_dilation", "x, structure=ones, output=int", "adds structure= as int64"),
    ("ndimage.grey_dilation", "x, structure=[[-1, 0]]", "below 0 in the middle"),
    ("ndimage.spline_filter", "x, output=np.int16", "for output= of int16"),
    ("ndimage.zoom", "x, 2, mode='grid-constant', order=1, cval=5", "0 for any cval="),
    ("ndimage.zoom", "x, 2, grid_mode=True, order=1, cval=5", "pass mode='grid-constant'"),
    ("ndimage.zoom", "x, 3, grid_mode=True, mode='wrap'", "pass mode='grid-wrap'"),
    ("ndimage.binary_erosion", "x > 3, output=np.uint8", "returns bool, whatever"),
    ("ndimage.binary_fill_holes", "x > 3, output=int", "returns bool, whatever"),
    ("ndimage.morphological_gradient", "x, 3, output=np.float32", "returns float64, whatever"),
    ("ndimage.median_filter", "x.astype('u1'), 3, mode='constant', cval=300", "of uint8"),
    ("ndimage.maximum_filter", "x > 3, 3, mode='constant', cval=3", "of bool"),
    ("ndimage.minimum_filter", "x.astype('i2'), 3, None, float, 'constant', 2.5", "of int16"),
    ("ndimage.median_filter", "x[0], footprint=[0, 1, 1]", "too, for one dimension"),
    ("ndimage.rank_filter", "x[0], 1, footprint=[1, 0, 1, 1]", "too, for one dimension"),
    ("signal.order_filter", "x[0], [1, 0, 1], 1", "gaps of domain= too, for one dimension"),
    ("ndimage.median_filter", "x, 3, output=bool", "cuts fractions off"),
    (
        "ndimage.shift",
        "x.astype('u1'), 0.5, mode='grid-constant', cval=1.7",
        "pads with cval=1.7 as a number of uint8",
    ),
    ("ndimage.distance_transform_edt", "x[0]", "for 2 and 3 dimensions, not 1"),
    ("ndimage.distance_transform_edt", "x, None, True, False, on_host((6, 7))", "cannot fill"),
    ("ndimage.uniform_filter", "x.astype('i4'), 3, output='u4'", "a sum below 0 becomes"),
    (
        "ndimage.uniform_filter1d",
        "x.astype('u8'), 3, mode='constant', cval=-1",
        "a sum below 0 becomes another number of uint64",
    ),
    ("signal.filtfilt", "[1.0], np.r_[1, np.zeros(9), 1e9], np.ones(10), padlen=0", "grow by"),
    ("signal.filtfilt", "np.hamming(50), 1.0, np.ones(30), padlen=0", "CuPy needs 49 elements"),
    ("signal.filtfilt", "np.ones(600), [1.0, -0.5], np.ones(4000)", "reaches 599 elements back"),
    ("signal.lfilter", "*signal.butter(4, 0.01), np.ones(2000)", "CuPy loses twice as many digits"),
    (
        "signal.filtfilt",
        "*signal.butter(4, (0.5, 40), 'bandpass', fs=250), np.ones((2000, 2)), 0",
        "pass second-order sections to sosfilt",
    ),
    ("signal.deconvolve", "np.ones(50), [1.0, 2.0, 5.0]", "divisor= makes what is filtered grow"),
    ("signal.bilinear", "[1, 2j], b", "b= is complex, and CuPy's bilinear is for real numbers"),
    ("signal.lp2bp", "b, [1.0, (2j)]", "a= is complex"),
    ("fft.fft", "x, workers=0", "CuPy's fft has no workers="),
    ("fft.fft2", "x, workers=-9999", "CuPy's fft2 has no workers="),
    ("fft.fft2", "x[None][:0]", "x= is empty"),
    ("fft.irfft", "x[:, :1]", "one frequency is half of no line"),
    ("fft.hfft2", "x[:1], axes=(1, 0)", "one frequency is half of no line"),
    ("ndimage.iterate_structure", "ones > 0, 3", "no more than 2 iterations"),
    ("signal.iirfilter", "2, cupy.asarray(0.5), ftype='Bessel'", "no filters of Bessel's"),
    ("signal.lp2bp", "b * 1j, b", "b= is complex"),
    ("signal.bilinear", "b, b * 1j", "a= is complex"),
    ("signal.sosfilt", "[[1, 0, 0, 2, -0.5, 0]], b", "the fourth column of sos= is not 1"),
    ("fft.fft", "x, n=-1", "n=-1 has what is no length"),
    ("fft.dct", "x, n=-1", "n=-1 has what is no length"),
    ("fft.irfft", "x, n=0", "n=0 has what is no length"),
    ("fft.fftn", "x, s=(4, -2)", "no length of SciPy's"),
    ("fft.fftn", "x, axes=()", "transforms nothing"),
    ("fft.rfft", "x * 1j", "x= is of complex128, and SciPy's rfft takes real numbers only"),
    ("fft.rfft2", "x * 1j", "real numbers only"),
    ("fft.rfftn", "x * 1j", "real numbers only"),
    ("fft.ihfft", "x * 1j", "real numbers only"),
    ("fft.ihfft2", "x * 1j", "real numbers only"),
    ("fft.ihfftn", "x.astype('c8')", "real numbers only"),
    ("fft.fht", "x * 1j, 1, 2", "a= is of complex128"),
    ("fft.dct", "x, type=1", "types 2 and 3, not type=1"),
    ("fft.dct", "x, orthogonalize=True", "no orthogonalize="),
    ("fft.dctn", "x, norm='ortho', orthogonalize=False", "no orthogonalize="),
    ("signal.lfilter", "b, b, x, zi=np.zeros((6, 1))", "cupy#8677"),
    ("signal.cspline2d", "x, 8.0", "lamb=8.0: CuPy ends lines otherwise"),
    ("signal.qspline2d", "x * 1j", "CuPy's qspline2d is for real numbers"),
    ("signal.find_peaks", "x[0] * 1j", "CuPy's find_peaks is for real numbers"),
    ("signal.gausspulse", "x * 1j", "t= is complex"),
    ("signal.argrelmax", "x * 1j", "data= is complex"),
    ("ndimage.distance_transform_edt", "x * 1j", "is for real numbers"),
    ("ndimage.sum", "x, x * 1j, [1]", "labels= is complex"),
    ("ndimage.center_of_mass", "x, x, np.ones((2, 2))", "pass index=index.ravel()"),
    ("ndimage.map_coordinates", "x, (b, b.astype('f2'))", "no arrays of float16"),
    ("signal.wiener", "x.astype('u1'), 3", "numbers of floating point only"),
    ("signal.resample", "x * 1j, 2", "leaves out a frequency for num=2"),
    ("signal.resample", "x * 1j, 3, window='hann'", "shifts a window for complex numbers"),
    ("signal.resample", "x * 1j, 3, window=('kaiser', 5.0), domain='freq'", "for complex numbers"),
    ("signal.resample", "x, 3, domain='freq'", "pass complex x="),
    ("fft.dct", "x, norm='foo'", "SciPy's norms, not norm='foo'"),
    ("signal.hilbert2", "x", ""),
    ("signal.choose_conv_method", "x, x", ""),
    ("signal.resample_poly", "x, 2, 1, padtype='line'", "padtype='constant'"),
    ("signal.resample_poly", "x, 2, 1, window='dpss'", "no window 'dpss'"),
    ("signal.welch", "x[0], nperseg=4, window='hamming_symmetric'", "no window"),
    ("signal.upfirdn", "b, x, mode='edge'", "mode='constant'"),
    ("signal.convolve", "x > 3, x > 2", "boolean"),
    ("signal.convolve2d", "x, x[:0]", "in2= is empty"),
    ("signal.correlate2d", "x.astype('u1'), ones.astype('u4'), fillvalue=-3", "of uint32"),
    ("signal.convolve2d", "x.astype('i2'), ones.astype('i2'), fillvalue=np.nan", "of int16"),
    ("signal.argrelmax", "x, mode='raise'", "mode='clip'"),
    ("signal.argrelextrema", "x, np.greater", "pass cupy.greater"),
    ("signal.freqz", "b, include_nyquist=True", "frequencies may differ"),
    ("signal.sawtooth", "x.astype('f4')", "for float64 only"),
    ("signal.chirp", "x[0], 1, 2, 3, complex=True", "has no complex="),
    ("signal.group_delay", "(b * 1j, b)", "real coefficients"),
]


def test_the_reasons_are_told(tmp_path_factory: pytest.TempPathFactory) -> None:
    """`explain` gives the reasons for CuPy arrays. The stand-in does not test the numbers."""
    served = [each for each in REASONS if present(each[0])]
    run_python(
        f"""
        import warnings
        import cupy, numpy as np
        from scipy_dispatch import fft, ndimage, signal

        def on_host(shape):
            return [np.zeros(shape)]

        def on_device(value):
            if type(value) is list and isinstance(value[0], np.ndarray):
                return value[0]
            if isinstance(value, np.ndarray):
                return cupy.asarray(value)
            return tuple(map(on_device, value)) if type(value) is tuple else value

        x, b, ones = np.arange(42.0).reshape(6, 7), np.array([1.0, 0.5]), np.ones((3, 3))
        wrong = []
        for name, arguments, reason in {served!r}:
            function = eval(name)
            args, kwargs = eval(f"(lambda *args, **kwargs: (args, kwargs))({{arguments}})")
            try:
                explanation = function.explain(*map(on_device, args), **kwargs)
            except TypeError as error:
                assert "unexpected keyword" in str(error), error
                continue  # an older SciPy
            if explanation.selected != "default" or reason not in str(explanation):
                wrong.append(f"{{name}}({{arguments}})\\n{{explanation}}")
        assert not wrong, "\\n".join(wrong)
        """,
        path=[write_standin(tmp_path_factory.mktemp("standin"))],
    )


ACCEPTED: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    # CuPy reports the error.
    ("ndimage.sobel", (X,), {"mode": "foo"}),
    ("ndimage.spline_filter", (np.ones((30, 30)),), {"mode": "foo"}),
    ("fft.fft", (X,), {"norm": "foo"}),
    ("fft.fft", (X,), {"plan": object()}),
    ("ndimage.sobel", (X,), {"mode": "grid-constant"}),
    ("ndimage.gaussian_filter", (X.astype("f2"), 1), {"output": np.float16}),
    ("ndimage.zoom", (X, 1), {}),
    ("ndimage.zoom", (X > 3, 2), {"order": 0}),
    ("ndimage.rotate", (X > 3, 30), {"order": 0, "cval": 1}),
    ("ndimage.sobel", (X,), {"mode": "wrap", "output": np.float32}),
    ("ndimage.gaussian_filter", (X, 1), {"radius": 2, "axes": (0,), "output": "f4"}),
    ("ndimage.correlate", (X.astype(complex), np.ones((3, 3))), {"mode": "constant"}),
    ("ndimage.rotate", (X, 30), {"cval": np.nan}),
    ("ndimage.minimum_filter", (X, 3), {"cval": np.inf, "mode": "constant"}),
    ("ndimage.zoom", (X, (1, 2)), {"order": 1, "mode": "reflect"}),
    ("ndimage.zoom", (X, 2), {"order": 1, "mode": "constant", "cval": 0.0}),
    ("ndimage.median_filter", (X, 3), {"axes": (0, -1)}),
    ("ndimage.binary_erosion", (X > 3,), {"mask": X > 5, "iterations": 2}),
    ("signal.convolve2d", (X, X), {"boundary": "wrap", "fillvalue": np.inf}),
    ("ndimage.shift", (np.ones((24, 30)), 0.5), {"mode": "reflect"}),
    ("ndimage.shift", (X, 0.5), {"mode": "nearest"}),
    ("ndimage.shift", (X, 0.5), {"mode": "reflect", "prefilter": False}),
    ("ndimage.shift", (X.astype("u1"), 0.5), {"mode": "grid-constant", "cval": 7}),
    ("ndimage.sobel", (X, 0), {"mode": "constant", "cval": 3}),
    ("ndimage.sobel", (X, 0), {"output": np.int16}),
    ("ndimage.sobel", (X.astype(int),), {"output": np.int16}),
    ("ndimage.uniform_filter", (X, 3), {"cval": np.nan}),
    ("ndimage.correlate1d", (X, [1, 2]), {"cval": np.inf, "mode": "constant"}),
    ("ndimage.gaussian_filter", (X, 1), {"cval": np.nan, "mode": "constant"}),
    ("ndimage.median_filter", (X[0],), {"footprint": [1, 1, 1]}),
    ("ndimage.median_filter", (X,), {"footprint": [[0, 1, 1]]}),
    ("ndimage.maximum_filter", (X[0],), {"footprint": [0, 1, 1]}),
    ("ndimage.maximum_filter", (X, 3), {"mode": ["wrap", "nearest"]}),
    ("ndimage.maximum_filter", (X > 3, 3), {"output": bool}),
    ("ndimage.rotate", (X[None], 30), {"axes": (1, 2)}),
    ("ndimage.rotate", (X[None], 30), {"prefilter": False, "order": 1}),
    ("ndimage.rotate", (X, 30), {"prefilter": False}),
    ("ndimage.zoom", (X * 1j, 2), {"grid_mode": False}),
    ("ndimage.zoom", (X, 2), {"grid_mode": True, "mode": "grid-wrap"}),
    ("signal.order_filter", (X, [[0, 1, 1]], 1), {}),
    ("signal.resample", (X, 2), {"window": "hann"}),
    ("signal.resample", (X * 1j, 3), {"domain": "freq"}),
    ("signal.correlate2d", (X.astype("u1"), np.ones((2, 2), "u1")), {"fillvalue": 2.5}),
    ("signal.convolve2d", (X.astype("u1"), [[1, 2]]), {}),
    ("ndimage.gaussian_filter", (X, 0.1), {}),
    ("ndimage.gaussian_filter", (X, (1, 0)), {"order": 1}),
    ("ndimage.gaussian_filter", (X > 3, 1), {"output": float}),
    ("ndimage.gaussian_filter", (X.astype("u1"), 1), {}),
    ("ndimage.gaussian_laplace", (X.astype("u1"), 1), {"output": float}),
    ("ndimage.gaussian_gradient_magnitude", (X.astype("i4"), 1), {"output": "f4"}),
    ("ndimage.spline_filter", (X * 1j,), {"output": complex}),
    ("ndimage.binary_fill_holes", (X > 3, [[1, 1, 1]] * 3), {"output": bool}),
    ("ndimage.label", (X, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]), {}),
    ("ndimage.grey_erosion", (X,), {"structure": np.ones((3, 3))}),
    ("ndimage.median_filter", (X.astype("u1"), 3), {"mode": "constant", "cval": 2.5}),
    ("ndimage.affine_transform", (X, [[1, 0, 2], [0, 1, 3], [0, 0, 1]]), {}),
    ("signal.wiener", (X, (3, 5)), {}),
    ("signal.lfilter", ([1, 1], 1, X), {}),
    ("signal.cspline2d", (X.astype("u1"), 1 / 144), {}),
    ("ndimage.map_coordinates", (X, [X[0], X[1]]), {}),
    ("ndimage.sum", (X, X, range(3)), {}),
    ("ndimage.center_of_mass", (X, X, np.arange(3)), {}),
    ("fft.dct", (X,), {"norm": "ortho"}),
    ("fft.fft", (X,), {"workers": None, "plan": None}),
    ("fft.ifftn", (X,), {"workers": -1}),
    ("fft.dct", (X, 2), {"orthogonalize": None}),
    ("fft.dct", (X, 2), {"orthogonalize": True, "norm": "ortho"}),
    ("fft.irfft", (X[:, :1], 8), {}),
    ("fft.irfft2", (X[:, :1], (4, 8)), {}),
    ("signal.upfirdn", ([1, 1], X, 2.0, 1.0), {}),
    ("signal.lombscargle", (X[0], X[0], X[0]), {"normalize": True}),
    ("signal.convolve", (X > 1, X), {}),
    ("signal.resample_poly", (X, 2, 1), {"padtype": "constant"}),
    ("signal.welch", (X[0],), {"window": signature(signal.welch).parameters["window"].default}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), ACCEPTED, ids=[each[0] for each in ACCEPTED])
def test_what_is_scipy_s_default_is_no_reason(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """The parameters include those that CuPy lacks."""
    from scipy_dispatch_cupy._call import Call
    from scipy_dispatch_cupy._limits import why_not

    module, _, function = name.partition(".")
    try:
        reason = why_not(Call.bind(module, function, args, kwargs))
    except ImportError as error:
        pytest.skip(f"CuPy cannot be imported here: {error}")
    assert reason is None
