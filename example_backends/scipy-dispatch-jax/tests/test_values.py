"""SciPy's values and data types, within the tolerances of `tolerances.py`.

Every function once for every kind of numbers. `tools/scipy_tests` repeats the calls of SciPy's own
tests; what these do not reach is here: lines shorter than windows, ties, NaN, long sums.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from comparison import (
    FUNCTIONS,
    Sample,
    check,
    has_64_bits,
    scipy_function,
    why_deferred,
)
from tolerances import TOLERANCES

from scipy_dispatch.testing import difference, dispatchable
from scipy_dispatch.testing.strategies import MODES

TYPES = {"integers": np.int16, "integers32": np.uint8, "single": np.float32, "double": np.float64}
COMPLEX = {"single": np.complex64, "double": np.complex128}
RANDOM = np.random.default_rng(5)
IMAGE = RANDOM.uniform(-20, 20, (5, 6))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_real_numbers(name: str, precision: bool) -> None:
    sample = Sample(name)
    takes_complex = np.iscomplexobj(sample.data)
    for kind in TOLERANCES[name]:
        if (kind in ("integers", "double")) != has_64_bits() or (takes_complex and "int" in kind):
            continue
        if kind != "half":
            dtype = (COMPLEX if takes_complex else TYPES)[kind]
            x = np.abs(sample.data) if dtype == np.uint8 else sample.data
            # The weights have the precision of the array, except for integers.
            others = sample if "int" in kind else sample.with_reals(TYPES[kind])
            check(name, *others.args(x.astype(dtype)), **others.kwargs)


@pytest.mark.parametrize("name", [each for each in FUNCTIONS if "half" in TOLERANCES[each]])
def test_half_precision(name: str) -> None:
    """SciPy has none, and gets the same numbers in single precision."""
    sample = Sample(name)
    is_filter = name.startswith("ndimage")
    x = jnp.asarray(sample.data.real, jnp.bfloat16 if is_filter else jnp.float16)
    result = dispatchable(name)(*sample.args(x), **sample.kwargs)
    expected = scipy_function(name)(*sample.args(np.asarray(x, np.float32)), **sample.kwargs)
    if is_filter:
        assert result.dtype == jnp.bfloat16
        result = result.astype(jnp.float32)
    tolerance = TOLERANCES[name]["half"]
    scale = float(abs(x).max())
    assert not difference(name, np.asarray(result), expected, tolerance, scale, dtype_of=None)


WITH_COMPLEX = [
    *("ndimage.correlate", "ndimage.convolve1d", "ndimage.gaussian_filter", "ndimage.sobel"),
    *("ndimage.uniform_filter", "ndimage.map_coordinates", "ndimage.gaussian_laplace"),
    *("fft.dct", "fft.dstn", "signal.convolve", "signal.correlate", "signal.correlate2d"),
    *("signal.fftconvolve", "signal.detrend"),
]


@pytest.mark.parametrize("name", WITH_COMPLEX)
def test_complex_numbers(name: str, double: bool) -> None:
    sample = Sample(name)
    x = (sample.data * (1 + 0.5j) + 2j).astype(np.complex128)
    check(name, *sample.args(x), **sample.kwargs)


def test_complex_weights_and_spectra(double: bool) -> None:
    check("ndimage.correlate1d", IMAGE, np.array([1 + 2j, 0.5, -1j]))
    check("ndimage.convolve", np.ones((2, 3), np.uint8), np.array([[1 + 2j, 0.5, -1j]]))
    x = RANDOM.normal(size=24) * (1 + 0.5j)
    for name in ("signal.welch", "signal.stft"):
        check(name, x, nperseg=8, return_onesided=False)
        assert "complex" in (why_deferred(name, jnp.asarray(x), nperseg=8) or "")
    check("signal.csd", x.real, x.real, nperseg=8)  # which is real


@pytest.mark.parametrize("mode", MODES)
def test_every_boundary_mode(mode: str, double: bool) -> None:
    """Windows beyond both ends, lines of one element and shorter than the window; ties."""
    image = np.arange(12.0).reshape(3, 4) ** 2
    for x in (image, image[:1]):
        check("ndimage.correlate1d", x, np.arange(11.0), 0, mode=mode, cval=3, origin=-2)
        check("ndimage.correlate", x, np.arange(12.0).reshape(4, 3), mode=mode, cval=3)
        check("ndimage.minimum_filter", x, (6, 2), mode=mode, cval=3)
    far = [2.0**31, 2.0**31 + 2.5, -(2.0**31), -(2.0**31) - 1.5]
    for length in (1, 2, 5):
        where = np.concatenate([np.arange(-3 * length, 4 * length, 0.5), far])[None]
        for order in (0, 1):
            x = np.arange(1.0, length + 1)
            check("ndimage.map_coordinates", x, where, order=order, mode=mode, cval=-1.0)


def test_integers_are_convolved_exactly(precision: bool) -> None:
    """Results have the low bits of values that the data type cannot hold, by any method."""
    for dtype in (np.uint8, np.int32):
        limits = np.iinfo(dtype)
        pair = [
            RANDOM.integers(limits.min, limits.max, shape).astype(dtype)
            for shape in ((40, 50), (13, 14))
        ]
        check("signal.correlate", *pair, "same", "direct")  # SciPy's transforms have errors
        function = dispatchable("signal.convolve")
        direct, by_transforms = (
            function(*map(jnp.asarray, pair), method=each) for each in ("direct", "fft")
        )
        np.testing.assert_array_equal(direct, by_transforms)
