"""On a GPU: every function beside SciPy's, and what `scipy_dispatch` adds to a call.

pytest -m gpu                                            prints a report of the results
SCIPY_DISPATCH_CUPY_REPORT=report.md pytest -m gpu       and writes it to a file
"""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy_functions import FUNCTIONS, Function
from tolerances import TOLERANCES

from scipy_dispatch import backend_opts, ndimage, signal
from scipy_dispatch.testing import (
    SAMPLES,
    Comparison,
    allowed_for,
    call,
    difference,
    dispatchable,
    leaves,
    quietly,
    scipy_function,
)
from spatch_core import NoImplementationError

if TYPE_CHECKING:
    from scipy_dispatch.testing import Call

pytestmark = pytest.mark.gpu


def _cupy(value: Any) -> Any:
    import cupy

    return cupy.asarray(value)


CUPY = Comparison("cupy", TOLERANCES, _cupy, lambda value: value.get())
IMAGE = np.random.default_rng(7).uniform(0, 50, (13, 17))
MASK = IMAGE > 20
TAPS = np.array([0.25, 0.5, 0.25])

PYTHON_FUNCTIONS = {
    *("ndimage.generic_filter", "ndimage.generic_filter1d"),
    *("ndimage.generic_laplace", "ndimage.generic_gradient_magnitude", "signal.argrelextrema"),
}
"""Functions whose samples pass a function of SciPy's or NumPy's; they are called below."""
DOUBLE_ONLY = {
    "signal.firls": "an ill-conditioned problem",
    "signal.minimum_phase": "logarithms of a spectrum that is 0 in single precision",
    "signal.lombscargle": "a sum of squares nearly vanishes",
    "signal.peak_widths": "SciPy takes prominences of double precision",
}
"""Functions that are not compared in single precision, with the reason."""


def sample(name: str) -> Call:
    """Return the sample call of a function, without the arguments that CuPy does not take."""
    args, kwargs = SAMPLES[name].fresh()
    if name in ("signal.lfilter", "signal.sosfilt", "signal.lombscargle"):
        kwargs = {}  # the initial state, and weights
    return call(*args, **kwargs)


def in_single_precision(value: Any) -> Any:
    """Return the value with its arrays of floating point in single precision."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(in_single_precision, value))
    if isinstance(value, dict):
        return {key: in_single_precision(each) for key, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return value.astype("c8" if value.dtype.kind == "c" else "f4")
    return value


def compare(name: str, given: Call, report: dict[str, float]) -> None:
    """Make a call with CuPy's arrays and with NumPy's, and compare values and shapes."""
    expected = quietly(scipy_function(name), *given.fresh().args, **given.kwargs)
    on_device = CUPY.given(given)
    explanation = dispatchable(name).explain(*on_device.args, **on_device.kwargs)
    assert explanation.selected == "cupy", explanation
    result = quietly(dispatchable(name), *on_device.args, **on_device.kwargs)
    assert not list(leaves(result)), "an array of NumPy's came back"
    result = CUPY.fetched(result)
    allowed = allowed_for(TOLERANCES[name], [*leaves(given), *leaves(expected)])
    wrong = difference(name, result, expected, allowed, dtype_of=None)
    assert wrong is None, f"{wrong}; allowed: {allowed}"
    for x, y in zip(leaves(result), leaves(expected), strict=False):
        if x.shape == y.shape and y.size and y.dtype.kind in "fc":
            worst = np.nanmax(np.abs(x - y)) / (np.nanmax(np.abs(y)) or 1)
            report[name] = max(report.get(name, 0.0), float(worst))


@pytest.mark.parametrize("name", [name for name in CUPY.functions if name not in PYTHON_FUNCTIONS])
def test_results_are_those_of_scipy(name: str, report: dict[str, float]) -> None:
    compare(name, sample(name), report)


@pytest.mark.parametrize(
    "name",
    [name for name in CUPY.functions if name not in (*PYTHON_FUNCTIONS, *DOUBLE_ONLY)],
)
def test_results_in_single_precision(name: str, report: dict[str, float]) -> None:
    given = sample(name)
    single = call(*in_single_precision(given.args), **in_single_precision(given.kwargs))
    compare(name, single, report)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("ndimage.gaussian_filter", call(IMAGE.astype("u1"), 1)),
        ("ndimage.correlate", call(IMAGE.astype("u1"), np.full((3, 3), 1 / 9), mode="wrap")),
        ("ndimage.median_filter", call(IMAGE.astype("i2"), 3, mode="nearest")),
        ("ndimage.grey_erosion", call(IMAGE.astype("u1"), (3, 2), mode="mirror")),
        ("ndimage.zoom", call(IMAGE.astype("u1"), 2, order=1, mode="nearest")),
        ("ndimage.binary_erosion", call(MASK, iterations=2)),
        ("ndimage.binary_closing", call(MASK, None, 3)),
        ("ndimage.correlate", call(IMAGE, [[0, 1, 0], [1, -4, 1], [0, 1, 0]])),
        ("ndimage.map_coordinates", call(IMAGE, [[1.5, 2.5], [3.0, 4.5]], order=1)),
        ("ndimage.mean", call(IMAGE, MASK.astype(int), range(2))),
        ("ndimage.gaussian_filter", call(IMAGE, np.array([1.0, 2.0]), axes=np.array([0, 1]))),
        ("signal.lfilter", call(TAPS, 1, IMAGE)),
        ("signal.filtfilt", call([0.25, 0.5, 0.25], [1.0], IMAGE)),
        ("signal.lfilter", call(np.poly1d(TAPS), np.float64(2), IMAGE)),
        ("signal.convolve", call(IMAGE, np.ones((2, 3)))),
        ("signal.correlate", call(IMAGE.astype(int), np.ones((2, 3), int), "same")),
        ("signal.find_peaks", call(IMAGE[0], height=(20, None), distance=np.int64(2))),
        ("signal.sosfreqz", call(np.array([[1.0, 0.5, 0.2, 1.0, -0.4, 0.1]]), 8)),
        ("fft.fft2", call(IMAGE, workers=2)),
    ],
    ids=str,
)
def test_arguments_reach_cupy_as_it_wants_them(name: str, given: Call) -> None:
    """Lists, numbers and NumPy's scalars, and what CuPy asks for where SciPy does not."""
    compare(name, given, {})


def test_numpy_arrays_beside_a_cupy_array_are_moved() -> None:
    result = ndimage.correlate(_cupy(IMAGE), np.full((3, 3), 1 / 9))
    np.testing.assert_allclose(result.get(), ndimage.correlate(IMAGE, np.full((3, 3), 1 / 9)))


def test_numbers_on_the_gpu_are_settings() -> None:
    image = _cupy(IMAGE)
    result = ndimage.shift(image, 0.5, order=1, cval=image.max())
    np.testing.assert_allclose(result.get(), ndimage.shift(IMAGE, 0.5, order=1, cval=IMAGE.max()))


def test_the_output_is_filled_and_may_be_the_input() -> None:
    image, output = _cupy(IMAGE), _cupy(np.zeros_like(IMAGE))
    expected = ndimage.gaussian_filter(IMAGE, 1)
    assert ndimage.gaussian_filter(image, 1, output=output) is output
    np.testing.assert_allclose(output.get(), expected)
    ndimage.gaussian_filter(image, 1, output=image)
    np.testing.assert_allclose(image.get(), expected)


def test_functions_of_cupy_are_called() -> None:
    import cupy

    added = cupy.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "added")
    result = ndimage.generic_filter(_cupy(IMAGE), added, 3)
    np.testing.assert_allclose(result.get(), ndimage.generic_filter(IMAGE, np.sum, 3))
    (peaks,) = signal.argrelextrema(_cupy(IMAGE[0]), cupy.greater)
    np.testing.assert_array_equal(peaks.get(), signal.argrelextrema(IMAGE[0], np.greater)[0])


MISSING = [each for each in FUNCTIONS if f"{each.module}.{each.name}" not in CUPY.functions]
"""Functions of SciPy that CuPy does not have, or has otherwise."""


def plain(value: Any) -> Any:
    """Return arrays for the objects of SciPy's own classes, and numbers as arrays."""
    if type(value).__module__.startswith("scipy."):
        value = dict(value if isinstance(value, dict) else vars(value))
    if isinstance(value, dict):
        return [plain(value[key]) for key in sorted(value)]
    if isinstance(value, (tuple, list)) or getattr(value, "dtype", None) == np.object_:
        return [plain(each) for each in value]
    return np.asarray(CUPY.fetched(value)) if hasattr(value, "dtype") else value


@pytest.mark.parametrize("function", MISSING, ids=str)
def test_conversion_serves_what_cupy_does_not_have(function: Function) -> None:
    """CuPy arrays come back, with the bits of SciPy's results; without consent, it says so."""
    args, kwargs = function.call.fresh()
    expected = plain(quietly(function.default, *args, **kwargs))
    given = CUPY.given(call(*args, **kwargs))
    with backend_opts(fallback="raise"), pytest.raises(NoImplementationError) as caught:
        function.dispatchable(*given.args, **given.kwargs)
    assert "with backend_opts(fallback='convert'), cupy converts " in str(caught.value)
    with backend_opts(fallback="convert"):
        result = quietly(function.dispatchable, *given.args, **given.kwargs)
    assert not list(leaves(result)), "an array of NumPy's came back"
    assert difference(str(function), plain(result), expected, None) is None


def test_conversion_fills_the_output() -> None:
    output = _cupy(np.zeros((13, 17), np.int32))
    with backend_opts(fallback="convert"):
        ndimage.distance_transform_cdt(_cupy(MASK), distances=output)
    np.testing.assert_array_equal(output.get(), ndimage.distance_transform_cdt(MASK))


def test_the_readme_is_true() -> None:
    import cupy

    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    text = readme.partition("### What CuPy does not have")[2].partition("\n## ")[0]
    names = {"cupy": cupy, "ndimage": ndimage}
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, names, "README.md", "README.md", 0))
    assert runner.tries > 4
    assert not runner.failures
