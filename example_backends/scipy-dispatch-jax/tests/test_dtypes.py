"""Every function with all kinds of data types, with and without double precision.

Complete: all functions, and all kinds in the table of tolerances, with one data type and one
call each; half precision for filters and one transform. ``property`` samples the other
arguments.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from comparison import check, dispatchable, has_64_bits, scipy_function, why_deferred
from samples import FUNCTIONS, Sample
from tolerances import TOLERANCES

from scipy_dispatch.testing import difference

TYPES = {"integers": np.int16, "integers32": np.uint8, "single": np.float32, "double": np.float64}
RANDOM = np.random.default_rng(5)
COMPLEX = {"single": np.complex64, "double": np.complex128}
IMAGE = RANDOM.uniform(-20, 20, (5, 6))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_real_numbers(name: str, precision: bool) -> None:
    """Values are within the tolerance; data types are equal to SciPy's."""
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
    assert not difference(name, np.asarray(result), expected, tolerance, scale, checks_dtype=False)


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


def test_complex_spectra(double: bool) -> None:
    """For two-sided spectra; releases of SciPy issue different warnings for one-sided ones."""
    x = RANDOM.normal(size=24) * (1 + 0.5j)
    for name in ("signal.welch", "signal.stft"):
        check(name, x, nperseg=8, return_onesided=False)
        assert "complex" in (why_deferred(name, jnp.asarray(x), nperseg=8) or "")


def test_the_cross_density_of_a_signal_with_itself_is_real(double: bool) -> None:
    x = RANDOM.normal(size=24)
    check("signal.csd", x, x, nperseg=8)
    check("signal.csd", x, x.copy(), nperseg=8)


def test_complex_weights(double: bool) -> None:
    weights = np.array([1 + 2j, 0.5, -1j])
    for name in ("ndimage.correlate1d", "ndimage.convolve1d"):
        check(name, IMAGE, weights)
    check("ndimage.correlate", IMAGE, weights[None])
    check("ndimage.convolve", np.ones((2, 3), np.uint8), weights[None])


def test_rejected_with_scipy_s_error(double: bool) -> None:
    """The functions are those that do not support complex numbers in SciPy."""
    z = IMAGE + 1j
    check("fft.rfft", z)
    check("ndimage.median_filter", z, 3)
    check("ndimage.maximum_filter1d", z, 3)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_sums_are_cut_off_where_scipy_s_are(order: int, double: bool) -> None:
    """For constant lines, rounding errors in the last bit decide how sums are truncated."""
    x = np.repeat(np.arange(-100, 100, dtype=np.int16)[:, None], 3, 1)
    for name in ("gaussian_filter1d", "gaussian_laplace", "gaussian_gradient_magnitude"):
        settings = {"order": order} if name.endswith("1d") else {}
        check(f"ndimage.{name}", x, 0.7 + order / 3, mode="wrap", **settings)
    for size in (2, 3, 4):
        weights = np.full(size, 1 / size)
        weights[0] += 1e-16
        check("ndimage.correlate1d", x, weights)
        check("ndimage.convolve", x, np.full((size, 3), 1 / (3 * size)))


def test_flat_images_of_integers(precision: bool) -> None:
    """Results after each axis are integers except for rounding errors in the last bit."""
    for value in (28, 49, 98):
        for name in ("gaussian_filter", "gaussian_laplace"):
            check(f"ndimage.{name}", np.full((3, 3), value, np.int8), 0.5)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32])
def test_one_element_multiplies_in_the_arrays_type(dtype: Any, precision: bool) -> None:
    """There is no axis to transform along, in one or in two dimensions."""
    x = np.arange(1, 7).astype(dtype)
    for mode in ("full", "same"):
        check("signal.fftconvolve", x, x[4:5], mode)
        check("signal.fftconvolve", x.reshape(3, 2), x[:2].reshape(1, 2), mode, 0)
    check("signal.fftconvolve", x[:1], x[1:2])


@pytest.mark.parametrize("sigma", [np.float32(0.7), np.float16(1.3)], ids=str)
def test_numbers_of_low_precision(sigma: Any, double: bool) -> None:
    """They are used in the precision that SciPy uses."""
    for order in (0, 2):
        check("ndimage.gaussian_filter", IMAGE, sigma, order)


def test_segments_of_an_odd_length(double: bool) -> None:
    """The number of frequencies does not tell an odd length from the even one below."""
    z = (IMAGE + 1j)[:3]
    check("signal.istft", z, nperseg=5, window="hamming")


def test_lines_are_added_from_the_end_that_scipy_begins_at(double: bool) -> None:
    """Another order would change which partial sums are exact integers."""
    random = np.random.default_rng(4)
    x = np.repeat(np.arange(-300, 300, dtype=np.int16)[:, None], 6, 1)
    for size in (3, 4, 5):
        weights = random.random(size)
        check("ndimage.correlate1d", x, weights / weights.sum())


NARROW = [
    *[np.array(each, np.uint8) for each in ([100, 0, 156], [1, 7, 1], [255, 0, 1])],
    *[np.array(each, bool) for each in ([1, 1, 1], [1, 0, 0])],
    np.array([-128, 0, 5], np.int8),
]


@pytest.mark.parametrize("weights", NARROW, ids=str)
def test_weights_of_narrow_types(weights: np.ndarray, precision: bool) -> None:
    """Results do not depend on overflow in sums, differences or magnitudes of the weights."""
    x = np.array([[1, 2, 3, 4], [9, 0, 5, 7]], np.int32)
    for name in ("ndimage.correlate1d", "ndimage.convolve1d"):
        check(name, x, weights, mode="constant")
    check("ndimage.correlate", x, weights[None], mode="constant")


def test_what_an_integer_cannot_hold_is_its_limit(precision: bool) -> None:
    """Values are clipped for points between elements and beyond the ends."""
    where = np.array([[-2.5, -0.5, 0.25, 3.5, 9.0]], np.float32)
    for dtype in (np.uint8, np.uint16):
        x = np.array([3, 250, 0, 255], dtype)
        for cval in (-7.5, 1e6):
            for mode in ("constant", "grid-constant"):
                check("ndimage.map_coordinates", x, where, order=1, mode=mode, cval=cval)
        for output in (np.int8, np.int16):
            check("ndimage.map_coordinates", x, where, output=output, order=1, mode="nearest")


LONG = [
    ("ndimage.uniform_filter1d", np.full(6000, 0.1), (5001,)),
    ("ndimage.uniform_filter1d", RANDOM.random(6000), (5001,)),
    ("ndimage.correlate1d", RANDOM.random(6000), (RANDOM.random(3000),)),
    ("ndimage.convolve", RANDOM.random((60, 60)), (RANDOM.random((50, 51)),)),
    ("signal.convolve", RANDOM.random(6000), (RANDOM.random(5000), "same", "direct")),
]


@pytest.mark.parametrize(("name", "x", "args"), LONG, ids=[each[0] for each in LONG])
def test_long_sums(name: str, x: np.ndarray, args: Any) -> None:
    """Results are as accurate as for short sums; adding 5,000 terms one by one would not be."""
    args = [each.astype(np.float32) if isinstance(each, np.ndarray) else each for each in args]
    check(name, x.astype(np.float32), *args)


@pytest.mark.parametrize("method", ["auto", "fft"])
def test_integers_that_are_convolved_by_transforms(method: str, precision: bool) -> None:
    """Results are exact, and have the low bits of values that the data type cannot hold."""
    for name in ("signal.convolve", "signal.correlate"):
        for dtype in (np.uint8, np.int16, np.int32, np.uint32):
            limits = np.iinfo(dtype)
            first, second = (
                RANDOM.integers(limits.min, limits.max, shape).astype(dtype)
                for shape in ((40, 50), (13, 14))
            )
            check(name, first, second, "same", "direct")  # SciPy's transforms have rounding errors
            jax_arrays = jnp.asarray(first), jnp.asarray(second)
            function = dispatchable(name)
            direct, result = (
                function(*jax_arrays, mode="same", method=each) for each in ("direct", method)
            )
            np.testing.assert_array_equal(direct, result)


def test_trends_between_many_breaks(precision: bool) -> None:
    """Pieces have any length, including one element."""
    for length, breaks in ((700, [1, 2, 5, 9, 300, 301, 420]), (64, [16, 32, 48])):
        x = RANDOM.normal(size=(2, length)).cumsum(-1)
        x = x if has_64_bits() else x.astype(np.float32)
        check("signal.detrend", x, bp=breaks)
        check(
            "signal.detrend", (x.T * 1j + x.T).astype(np.result_type(x, np.complex64)), 0, bp=breaks
        )


@pytest.mark.parametrize("output", [np.float32, np.int32, None])
def test_sums_of_narrow_integers_that_are_large(output: Any, precision: bool) -> None:
    """For a real result, low bits are not enough, so the sum is not computed with integers."""
    x = np.array([[60000, 65535, 7], [65000, 1, 65535]], np.uint16)
    binomials = np.array([1.0, 16, 120, 560, 1820, 4368, 8008, 11440, 12870, 11440])
    if output is np.float32:
        check("ndimage.convolve1d", x, binomials, output=output)
        check("ndimage.correlate", x, np.full((1, 3), 10**6), output=output)
        check("ndimage.correlate1d", x, [1e10, 2, 1], output=output)
        check("ndimage.uniform_filter", x, 3, mode="constant", cval=2.0**30, output=output)
    check("ndimage.correlate1d", x, [1, 2, 1], output=output, mode="constant", cval=-5)
    large = np.array([[2**31, 2**32 - 1, 2**31 + 5, 0]], np.uint32)
    check("ndimage.uniform_filter", large, 3)


def test_complex_numbers_that_are_infinite(double: bool) -> None:
    """Multiplied by a real weight, infinity does not become NaN."""
    x = np.ones((4, 5), complex)
    x[1, 2] = np.inf
    with np.errstate(invalid="ignore"):
        check("ndimage.sobel", x)
        check("ndimage.correlate", x, np.array([[1.0, 2.0]]))


def test_squares_that_leave_the_range_of_the_integers(double: bool) -> None:
    """Overflow keeps the low bits, and the root of a negative number is 0."""
    x = np.array([[100, -100, 100, 3], [-90, 90, -90, 7], [1, 0, 2, 120]], np.int8)
    with np.errstate(invalid="ignore"):
        check("ndimage.gaussian_gradient_magnitude", x, 0.5)
