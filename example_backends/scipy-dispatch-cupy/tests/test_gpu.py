"""On a GPU: every function against SciPy, over types, modes and axes.

pytest -m gpu                                            prints a report of the results
SCIPY_DISPATCH_CUPY_REPORT=report.md pytest -m gpu       and writes it to a file
"""

from __future__ import annotations

from collections import defaultdict
from inspect import signature
from itertools import product
from typing import Any

import numpy as np
import pytest
from calls import CASES, GREATER, SERVED, Case, image, kind_of
from comparison import compare, on_device, on_host
from comparison import why_deferred as why
from report import REPORT

from scipy_dispatch import ndimage
from scipy_dispatch.testing import dispatchable, quietly, scipy_function

pytestmark = pytest.mark.gpu

BY_NAME: dict[str, list[Case]] = defaultdict(list)
for _case in CASES:
    BY_NAME[_case.name].append(_case)

DEFERRED = {"ndimage.generic_filter", "ndimage.generic_filter1d"}
"""Functions whose sample calls pass Python functions, which no GPU can run."""


def fresh(case: Case, package: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return copies of the arguments of a case."""
    args = [package.greater if each is GREATER else _copied(each) for each in case.args]
    return tuple(args), {key: _copied(each) for key, each in case.kwargs.items()}


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def checked(problems: list[str], case: Case, backend: str, run: Any) -> None:
    """Compare one case, and record any problem."""
    try:
        expected = quietly(scipy_function(case.name), *fresh(case, np)[0], **fresh(case, np)[1])
    except (RuntimeError, TypeError):
        return  # SciPy refuses it
    try:
        difference = compare(case.name, case.kind, run(), expected)
    except Exception as error:  # noqa: BLE001 - report the problems of all cases
        text = str(error).strip()
        problems.append(f"{case}: {type(error).__name__}: {text}")
    else:
        REPORT.add(f"{case.name} ({backend})", case.kind, difference)


@pytest.mark.parametrize("name", SERVED)
def test_cupy_arrays(name: str) -> None:
    """Results are CuPy arrays with SciPy's values, within the table's tolerances."""
    import cupy

    problems: list[str] = []
    ran = 0
    for case in BY_NAME[name]:
        args, kwargs = map(on_device, fresh(case, cupy))
        if quietly(why, name, *args, **kwargs):
            continue
        ran += 1

        def run() -> Any:
            result = quietly(dispatchable(name), *args, **kwargs)  # noqa: B023 - called at once
            if isinstance(result, np.ndarray):
                problems.append("an array of NumPy's came back")
            return on_host(result)

        checked(problems, case, "cupy", run)
    assert not problems, "\n".join(problems)
    assert ran or name in DEFERRED


def in_columns(x: np.ndarray) -> Any:
    """Return an array on the GPU in Fortran order."""
    return on_device(np.asfortranarray(x))


def turned_columns(x: np.ndarray) -> Any:
    """Return an array on the GPU in Fortran order with negative strides."""
    return on_device(np.asfortranarray(np.flip(x)))[_BACKWARDS * x.ndim]


def turned(x: np.ndarray) -> Any:
    """Return an array on the GPU with negative strides."""
    return on_device(np.ascontiguousarray(np.flip(x)))[_BACKWARDS * x.ndim]


def stepped(x: np.ndarray) -> Any:
    """Return an array on the GPU with gaps between its elements."""
    wide = np.zeros([2 * length for length in x.shape], x.dtype)
    wide[_EVERY_SECOND * x.ndim] = x
    return on_device(wide)[_EVERY_SECOND * x.ndim]


_BACKWARDS = (slice(None, None, -1),)
_EVERY_SECOND = (slice(None, None, 2),)


@pytest.mark.parametrize("lay", [in_columns, turned_columns, turned, stepped])
@pytest.mark.parametrize("name", SERVED)
def test_however_arrays_lie(name: str, lay: Any) -> None:
    """Views give the same results as contiguous arrays, which some of CuPy's kernels assume."""
    import cupy

    def laid(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return lay(value) if value.ndim else on_device(value)
        return type(value)(map(laid, value)) if isinstance(value, list | tuple) else value

    problems: list[str] = []
    for case in BY_NAME[name][:: max(1, len(BY_NAME[name]) // 4)]:
        args, kwargs = fresh(case, cupy)
        args, kwargs = laid(args), {key: laid(value) for key, value in kwargs.items()}
        if quietly(why, name, *args, **kwargs):
            continue
        checked(
            problems,
            case,
            "cupy",
            lambda: on_host(quietly(dispatchable(name), *args, **kwargs)),  # noqa: B023
        )
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("name", ["gaussian_filter", "correlate", "maximum_filter", "shift"])
def test_the_output_may_be_the_input(name: str, dtype: str) -> None:
    """The output may also be a NumPy array, or an array of another type."""
    import cupy

    settings: dict[str, Any] = {
        "gaussian_filter": {"sigma": 1},
        "correlate": {"weights": np.ones((3, 3)) / 9},
        "maximum_filter": {"size": 3},
        "shift": {"shift": 0.5, "order": 1},
    }[name]
    x = image(dtype)
    function = getattr(ndimage, name)
    same = cupy.asarray(x)
    other = cupy.asarray(np.zeros(x.shape))
    host = np.zeros(x.shape)
    for source, output in ((same, same), (cupy.asarray(x), other), (cupy.asarray(x), host)):
        result = function(source, output=output, **settings)
        assert result is output
        wanted = scipy_function(f"ndimage.{name}")(x, output=np.dtype(output.dtype), **settings)
        compare(f"ndimage.{name}", kind_of(dtype), on_host(result), wanted)


LABELS = np.repeat([[0, 1, 1, 2, 2, 2, 5, 5]], 6, axis=0)
INDICES: list[Any] = [
    *(range(1, 4), range(0), [], (5, 1), [1, 1, 2], [5, 0, 5], np.arange(7), np.unique(LABELS)),
    *(2, 2.0, np.int64(5), np.uint8(1), np.array([[1, 2], [5, 1]]), LABELS.max(), [np.int64(2)]),
]
MEASURED = ("sum", "sum_labels", "mean", "variance", "standard_deviation", "center_of_mass")
MEASURED += ("minimum", "maximum", "median", "minimum_position", "maximum_position", "extrema")


@pytest.mark.parametrize("name", [f"ndimage.{each}" for each in MEASURED])
def test_labels_in_any_form(name: str) -> None:
    """The index may be a range, NumPy numbers, repeated labels, empty, n-d, or on the GPU."""
    import cupy

    problems: list[str] = []
    for index in INDICES:
        x = image("float32", LABELS.shape, distinct=True)
        forms = [index]
        if isinstance(index, np.ndarray | np.generic):
            # LABELS.max() on the GPU is an array without dimensions, too.
            forms.append(cupy.asarray(index))
        elif isinstance(index, list) and index:
            forms.append([cupy.asarray(each) for each in index])
        for form in forms:
            if quietly(why, name, cupy.asarray(x), cupy.asarray(LABELS), form):
                assert (name, np.ndim(index)) == ("ndimage.center_of_mass", 2)
                continue

            def run() -> Any:
                args = cupy.asarray(x), cupy.asarray(LABELS), form  # noqa: B023 - called at once
                return on_host(quietly(dispatchable(name), *args))

            checked(problems, Case(name, "float32", (x, LABELS, index), {}, f"{form}"), "cupy", run)
    assert not problems, "\n".join(problems)


LINE = np.sin(np.arange(40) / 3) + np.arange(40) % 3
POINTS = [np.array([0.5, 2.25, 3]), np.array([1, 4.5, 2.75])]
SETTINGS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("ndimage.map_coordinates", (image("float64"), POINTS), {}),
    ("ndimage.map_coordinates", (image("float64"), tuple(POINTS)), {"order": 1}),
    ("ndimage.map_coordinates", (image("uint8"), [each.tolist() for each in POINTS]), {}),
    ("ndimage.find_objects", (LABELS,), {"max_label": 2}),
    ("ndimage.find_objects", (LABELS,), {"max_label": 9}),
    ("signal.lfilter", ([1, 1, 1], 1, LINE), {}),
    ("signal.lfilter", (np.ones(3, "f4"), 1.0, LINE.astype("f4")), {}),
    ("signal.lfilter", (np.ones(2, "u1"), np.array([2, 1], "u1"), LINE.astype("f4")), {}),
    ("signal.lfilter", (2, np.array([2, 1], "u1"), LINE), {}),
    ("signal.filtfilt", (np.ones(3) / 3, 1, LINE), {}),
    ("signal.filtfilt", ([0.2, 0.2], np.array([4, 1], "u1"), (40 * LINE).astype("u1")), {}),
    ("signal.deconvolve", (np.array([0, 2, 1, 0, 2, 3, 1, 0], "u1"), np.array([2, 1], "u1")), {}),
    ("signal.deconvolve", (LINE, np.r_[1.0, 2, 5, LINE[5:]]), {}),  # grows over a long quotient
    ("signal.deconvolve", (LINE, np.r_[1.0, np.zeros(LINE.size - 4), 300]), {}),
    ("signal.freqz", (LINE[:3], 1, LINE[:8]), {}),
    ("signal.freqz", (LINE[:3], 1, 512.0), {}),
    ("ndimage.convolve1d", (image("float64"), range(1, 4)), {}),
    ("ndimage.affine_transform", (image("float64"), [0.5, 0.5], 0, np.array([20, 25])), {}),
    ("signal.group_delay", ((LINE[1:4], 1), np.arange(1.0, 3)), {}),
    ("signal.group_delay", (([1, 2], [2, 1]), np.arange(1.0, 3)), {}),
    ("signal.sweep_poly", (LINE, np.poly1d([0.1, 2])), {}),
    ("signal.find_peaks", (LINE.astype("f4"),), {"height": float(LINE[7])}),
    ("signal.find_peaks", (LINE.astype("f4"),), {"height": (np.float32(0.5), None)}),
    ("signal.find_peaks", ((LINE * 40).clip(0).astype("u1"),), {"prominence": 1.5, "width": 1}),
    ("signal.resample_poly", (LINE.astype("c8"), 3, 2), {}),
    ("signal.lfilter", (LINE[:3].astype("f4"), np.float32(1), LINE.astype("f4")), {}),
    ("signal.resample_poly", (LINE, 3.0, 2.0), {}),
    ("signal.resample_poly", (LINE, 3, 2), {"window": "tukey"}),
    ("signal.fftconvolve", (LINE > 1, LINE[:5].astype("f4")), {}),
    ("signal.oaconvolve", (LINE > 1, LINE[:5] > 1), {}),
    ("signal.convolve", (LINE.astype("f4"), LINE[:5] > 1), {}),
    ("signal.correlate", (LINE > 1, np.arange(5)), {"method": "fft"}),
    ("signal.convolve2d", (image("int16"), image("bool", (3, 2))), {}),
    ("fft.fft", (LINE,), {"workers": -1}),
    ("fft.irfft2", (image("complex64"),), {"workers": 2}),
    ("fft.dct", (LINE,), {"norm": "ortho", "orthogonalize": True}),
    ("fft.idstn", (image("float32"),), {"orthogonalize": False}),
]
"""Settings given as arrays, and numbers for which SciPy uses double precision."""


@pytest.mark.parametrize(
    ("name", "args", "kwargs"), SETTINGS, ids=[f"{each[0]}-{n}" for n, each in enumerate(SETTINGS)]
)
def test_settings_that_stand_for_arrays(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """They work as in SciPy beside a CuPy array; the result has SciPy's type."""
    ours = on_device(args)
    assert quietly(why, name, *ours, **kwargs) is None
    expected = quietly(scipy_function(name), *args, **kwargs)
    result = quietly(dispatchable(name), *ours, **kwargs)
    if isinstance(expected, np.ndarray):
        assert result.dtype == expected.dtype
    single = any(getattr(each, "dtype", None) in ("f4", "c8") for each in args)
    kind = "float32" if single else "float64"
    compare(name, kind, on_host(result), expected)


NUMBERS: list[tuple[str, Any]] = [
    ("signal.find_peaks", lambda f, x, two: f(x, height=x.mean(), prominence=(x.std(), None))),
    ("signal.find_peaks", lambda f, x, two: f(x, height=two[::-1] - 1.2)),
    ("signal.resample_poly", lambda f, x, two: f(x, 3, 2, window=("kaiser", two[0]))),
    ("signal.resample_poly", lambda f, x, two: f(x, 3, 2, window=[0.25, 0.5, 0.25])),
    ("ndimage.affine_transform", lambda f, x, two: f(x[None], [[two[1], 0], [0, two[0]]])),
    ("signal.lfilter", lambda f, x, two: f([x.mean(), x.std()], two[0], x)),
    ("signal.convolve2d", lambda f, x, two: f(x[None], two[None], fillvalue=x.mean())),
    ("signal.wiener", lambda f, x, two: f(x, 3, x.std())),
    ("signal.cspline2d", lambda f, x, two: f(x[:, None] * x, x[:1].max())),
    ("ndimage.correlate1d", lambda f, x, two: f(x, [x.min(), x.max()], cval=x.mean())),
    ("ndimage.gaussian_filter", lambda f, x, two: f(x.reshape(5, 8), two, radius=two.astype(int))),
    ("ndimage.gaussian_filter", lambda f, x, two: f(x.reshape(5, 8), [x.std(), 2])),
    ("ndimage.sum", lambda f, x, two: f(x, x.round(), x.round().max())),
]
"""Settings computed from an array, which CuPy returns as arrays without dimensions."""


@pytest.mark.parametrize(
    ("name", "call"), NUMBERS, ids=[f"{each[0]}-{n}" for n, each in enumerate(NUMBERS)]
)
def test_numbers_on_the_gpu_are_numbers(name: str, call: Any) -> None:
    """Means or maxima of arrays are valid settings, and rules see their values."""
    two = np.array([2.0, 1.0])
    expected = call(scipy_function(name), LINE, two)
    result = call(dispatchable(name), on_device(LINE), on_device(two))
    compare(name, "float64", on_host(result), expected)


SPECTRA: list[tuple[str, dict[str, Any]]] = [
    *[("welch", {"average": "median", "scaling": each}) for each in ("density", "spectrum")],
    ("welch", {"detrend": "linear", "nfft": 80, "return_onesided": False}),
    ("welch", {"window": ("tukey", 0.25), "noverlap": 8, "axis": 0, "detrend": False}),
    ("csd", {"average": "median"}),
    ("csd", {"detrend": "linear", "axis": 0}),
    ("periodogram", {"window": "hann", "scaling": "spectrum", "nfft": 100}),
    ("spectrogram", {"mode": "magnitude"}),
    ("spectrogram", {"mode": "complex", "detrend": "linear"}),
    ("stft", {"boundary": None, "padded": False}),
    ("stft", {"window": "exponential", "nfft": 100, "axis": 0}),
    ("coherence", {"detrend": "linear"}),
]


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float64", "complex64"])
def test_spectra(dtype: str) -> None:
    """Compare values and types of several common spectra."""
    x, other = image(dtype, (70, 90)), image(dtype, (70, 90), distinct=True)
    ran = set()
    for name, settings in SPECTRA:
        arrays = [x, other] if name in ("csd", "coherence") else [x]
        sizes = {} if name == "periodogram" else {"nperseg": 32}
        on_gpu = on_device(arrays)
        if quietly(why, f"signal.{name}", *on_gpu, **sizes, **settings):
            continue
        ran.add(name)
        expected = quietly(scipy_function(f"signal.{name}"), *arrays, **sizes, **settings)
        result = on_host(quietly(dispatchable(f"signal.{name}"), *on_gpu, **sizes, **settings))
        compare(f"signal.{name}", kind_of(dtype), result, expected)
        assert result[-1].dtype == expected[-1].dtype, (name, settings)
    assert len(ran) >= 5


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_an_image_of_the_output_s_shape(dtype: str) -> None:
    """The shape of the input does not matter."""
    x, matrix = image(dtype), [[0.5, 0], [0, 0.8]]
    expected, output = np.zeros((7, 40), dtype), on_device(np.zeros((7, 40), dtype))
    scipy_function("ndimage.affine_transform")(x, matrix, output=expected)
    assert ndimage.affine_transform(on_device(x), matrix, output=output) is output
    compare("ndimage.affine_transform", kind_of(dtype), on_host(output), expected)


@pytest.mark.parametrize("shape", [(5, 6), (32, 32), (5, 5, 5)])
def test_distances_fill_arrays(shape: tuple[int, ...]) -> None:
    """Arrays of any shape are filled; filled arrays are not returned."""
    x = image("bool", shape)
    expected = scipy_function("ndimage.distance_transform_edt")(x)
    distance = ndimage.distance_transform_edt
    distances = on_device(np.zeros(shape))
    indices = on_device(np.zeros((len(shape), *shape), np.int32))
    given: dict[str, Any] = {"distances": distances, "indices": indices}
    both = distance(on_device(x), return_indices=True, **given)
    assert both is None
    compare("ndimage.distance_transform_edt", "bool", on_host(distances), expected)
    named = np.indices(shape) - on_host(indices)
    compare("ndimage.distance_transform_edt", "bool", np.sqrt((named**2).sum(axis=0)), expected)
    del given["distances"]
    alone = distance(on_device(x), return_indices=True, **given)
    compare("ndimage.distance_transform_edt", "bool", on_host(alone), expected)
    assert distance(on_device(x), return_distances=False, return_indices=True, **given) is None
    for wrong in (np.zeros(shape, np.float32), np.zeros((2, *shape))):
        with pytest.raises(RuntimeError, match="distances= must be of float64 and"):
            distance(on_device(x), distances=on_device(wrong))


@pytest.mark.parametrize("name", ["zpk2tf", "zpk2ss"])
def test_coefficients_are_complex_where_roots_are_no_pairs(name: str) -> None:
    zeros, poles, gain = scipy_function("signal.butter")(2, 0.1, output="zpk")
    turned = np.exp(0.1j * np.pi)
    every = (zeros * turned, poles * turned), (zeros, poles * turned), (zeros * turned, poles)
    for zpk in (*((z, p, gain) for z, p in every), (zeros, poles, gain)):
        expected = scipy_function(f"signal.{name}")(*zpk)
        result = on_host(dispatchable(f"signal.{name}")(*on_device(zpk)))
        compare(f"signal.{name}", "complex128", result, expected)


@pytest.mark.parametrize("name", ["zpk2tf", "zpk2ss"])
@pytest.mark.parametrize("root", [0.5, 0.5j, np.complex128(0.5j), np.float32(0.5)], ids=repr)
def test_a_number_is_a_single_root(name: str, root: Any) -> None:
    roots = np.array([0.1, 0.2])
    for zpk in ((root, roots, 1.0), (on_host(roots[:1]), roots, 2.0)):
        expected = scipy_function(f"signal.{name}")(*zpk)
        result = on_host(dispatchable(f"signal.{name}")(*on_device(zpk)))
        compare(f"signal.{name}", "complex128", result, expected)


@pytest.mark.parametrize("name", ["lp2hp", "lp2lp", "tf2zpk"])
def test_polynomials_are_both_complex_or_none(name: str) -> None:
    real, turned = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2j, 0.5])
    for polynomials in ((real, turned), (turned, real), (real, real)):
        expected = scipy_function(f"signal.{name}")(*polynomials)
        result = dispatchable(f"signal.{name}")(*on_device(polynomials))
        for one, other in zip(on_host(result), expected, strict=True):
            assert np.asarray(one).dtype == np.asarray(other).dtype
        compare(f"signal.{name}", "complex128", on_host(result), expected)


@pytest.mark.parametrize("shape", [[4, 9], (4, 9), np.array([4, 9])], ids=repr)
def test_the_shape_of_an_image_is_any_sequence(shape: Any) -> None:
    x, matrix = image("float64"), np.array([[0.9, 0.1], [0.2, 1.1]])
    transform, scipys = (
        find("ndimage.affine_transform") for find in (dispatchable, scipy_function)
    )
    expected = scipys(x, matrix, output_shape=tuple(shape))
    result = transform(on_device(x), matrix, output_shape=shape)
    compare("ndimage.affine_transform", "float64", on_host(result), expected)
    filled = on_device(np.zeros((4, 9)))
    assert transform(on_device(x), matrix, output_shape=shape, output=filled) is filled
    compare("ndimage.affine_transform", "float64", on_host(filled), expected)
    with pytest.raises(RuntimeError, match="shape"):
        transform(on_device(x), matrix, output_shape=(3, 9), output=filled)


def test_systems_of_scipy_s() -> None:
    """Its objects work beside arrays on the GPU."""
    lti, dlti = scipy_function("signal.lti"), scipy_function("signal.dlti")
    inputs, times = np.sin(np.arange(20) / 2), np.arange(20) / 2
    continuous = [lti([1.0], [1.0, 0.5, 1.0]), lti([-1.0], [-2.0, -3.0], 4.0)]
    continuous += [lti([[-1.0, 1], [0, -2]], [[0.0], [1]], [[1.0, 0]], [[0.0]])]
    for system in continuous:
        for name, arrays in (("lsim", (inputs, times)), ("bode", (times[1:],))):
            expected = quietly(scipy_function(f"signal.{name}"), system, *arrays)
            result = quietly(dispatchable(f"signal.{name}"), system, *on_device(arrays))
            compare(f"signal.{name}", "float64", on_host(result), expected)
    system = dlti([1.0], [1.0, -0.5], dt=0.5)
    expected = quietly(scipy_function("signal.dlsim"), system, inputs)
    result = quietly(dispatchable("signal.dlsim"), system, on_device(inputs))
    compare("signal.dlsim", "float64", on_host(result), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["lfilter", "filtfilt"])
@pytest.mark.parametrize(
    ("order", "band"), [(2, 0.1), (3, 0.1), (4, 0.1), (3, 0.03), (2, (0.2, 0.5)), (8, 0.5)]
)
def test_recursive_filters_of_higher_orders(name: str, dtype: str, order: int, band: Any) -> None:
    """Results are within the tolerance or left to SciPy, wherever the coefficients are stored."""
    kind = "bandpass" if isinstance(band, tuple) else "low"
    b, a = scipy_function("signal.butter")(order, band, kind)
    x = np.random.default_rng(0).normal(size=4000).astype(dtype)
    coefficients = b.astype(dtype), a.astype(dtype)
    exact = scipy_function(f"signal.{name}")(
        *(each.astype(float) for each in coefficients), x.astype(float)
    )
    for given in (coefficients, on_device(coefficients)):
        result = dispatchable(f"signal.{name}")(*given, on_device(x))
        assert result.dtype == x.dtype
        compare(f"signal.{name}", dtype, on_host(result), exact.astype(dtype))


@pytest.mark.parametrize("kind", ["low", "high"])
@pytest.mark.parametrize(("order", "cut_off"), [(2, 0.0004), (4, 0.0016), (8, 0.01)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["sosfilt", "sosfiltfilt"])
def test_sections_of_low_frequencies(
    name: str, dtype: str, order: int, cut_off: float, kind: str
) -> None:
    """Single-precision inputs and results suffice, but the computation needs double precision."""
    sos = scipy_function("signal.butter")(order, cut_off, kind, output="sos").astype(dtype)
    x = np.random.default_rng(0).normal(size=3000).astype(dtype)
    wide = np.result_type(dtype, np.float64)
    exact = scipy_function(f"signal.{name}")(sos.astype(wide), x.astype(wide))
    for given in (sos, on_device(sos)):
        result = dispatchable(f"signal.{name}")(given, on_device(x))
        assert result.dtype == x.dtype
        compare(f"signal.{name}", dtype, on_host(result), exact.astype(dtype))


@pytest.mark.parametrize(
    "settings",
    [{}, {"padtype": "even"}, {"padtype": None}, {"padlen": 0}, {"method": "gust"}],
    ids=str,
)
@pytest.mark.parametrize("coefficients", ["uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "uint16", "int16", "float32", "complex64"])
def test_both_ways_in_any_type(dtype: str, coefficients: str, settings: dict[str, Any]) -> None:
    """The result has SciPy's type; integers are extended in their own type, which may overflow."""
    limit = 1 if dtype[0] in "bfc" else np.iinfo(dtype).max
    x = (np.random.default_rng(0).random(200) * limit).round(3).astype(dtype)
    x[0] = x[-1] = limit
    b, a = np.array([1, 2, 1]).astype(coefficients), np.array([4, 1, 1]).astype(coefficients)
    sos = np.array([[1, 2, 1, 1, 0, 0]]).astype(coefficients)
    kind = "float64" if np.result_type(dtype, coefficients).char in "dD" else "float32"
    filters: dict[str, tuple[Any, ...]] = {"filtfilt": (b, a)}
    if "method" not in settings:
        filters["sosfiltfilt"] = (sos,)
    if "method" in settings and np.result_type(dtype, coefficients).kind in "iu":
        return  # SciPy refuses it
    for name, given in filters.items():
        expected = quietly(scipy_function(f"signal.{name}"), *given, x, **settings)
        for each in (given, on_device(given)):
            result = quietly(dispatchable(f"signal.{name}"), *each, on_device(x), **settings)
            assert result.dtype == expected.dtype
            compare(f"signal.{name}", kind, on_host(result), expected)


@pytest.mark.parametrize("factor", [4, 25, 100])
def test_every_so_many_of_single_precision(factor: int) -> None:
    x = np.random.default_rng(0).normal(size=3000).astype("f4")
    result = dispatchable("signal.decimate")(on_device(x), factor)
    assert result.dtype == x.dtype
    exact = scipy_function("signal.decimate")(x.astype(float), factor)
    compare("signal.decimate", "float32", on_host(result), exact.astype("f4"))


def test_what_remembers_too_well_is_left_to_scipy() -> None:
    """Coefficients may be on the GPU too. CuPy's result would be inaccurate."""
    x = on_device(np.ones(2000))
    for name in ("lfilter", "filtfilt"):
        for order, band in ((4, 0.01), (8, 0.1), (2, 0.00001)):
            b, a = scipy_function("signal.butter")(order, band)
            for given in ((b, a), on_device((b, a))):
                reason = why(f"signal.{name}", *given, x)
                assert reason is not None
                assert "loses" in reason
        assert why(f"signal.{name}", b, a, x[:40]) is None  # too few elements for a problem


@pytest.mark.parametrize("name", ["lfilter", "filtfilt"])
def test_singles_may_remember_more(name: str) -> None:
    b, a = (each.astype("f4") for each in scipy_function("signal.butter")(4, 0.05))
    x = np.random.default_rng(0).normal(size=4000)
    assert "grow" in str(why(f"signal.{name}", b, a, on_device(x)))
    singles = on_device(x.astype("f4"))
    assert why(f"signal.{name}", b, a, singles) is None
    result = dispatchable(f"signal.{name}")(b, a, singles)
    exact = scipy_function(f"signal.{name}")(b.astype(float), a.astype(float), on_host(singles))
    compare(f"signal.{name}", "float32", on_host(result), exact.astype("f4"))


@pytest.mark.parametrize(
    ("name", "shape", "back", "served"),
    [
        *(("lfilter", shape, 512, True) for shape in ((1, 1025), (3, 2100))),
        *(("lfilter", shape, 513, False) for shape in ((1, 1025), (3, 2100))),
        ("lfilter", (2, 1024), 600, True),
        ("filtfilt", (1, 2000), 512, True),
        ("filtfilt", (1, 2000), 513, False),
        ("filtfilt", (1, 1021), 513, False),  # 2 elements are added at each end
        ("filtfilt", (2, 700), 513, True),
        ("filtfilt", (2, 600), 596, True),
    ],
)
def test_echoes(name: str, shape: tuple[int, int], back: int, served: bool) -> None:
    """A recursion that reaches back further than half a block of CuPy's is left to SciPy."""
    x = np.random.default_rng(0).normal(size=shape)
    a = np.zeros(back + 1)
    a[0], a[back] = 1, -0.5
    settings = {"padlen": 2} if name == "filtfilt" else {}
    for given in (a, on_device(a)):
        reason = why(f"signal.{name}", [1.0], given, on_device(x), **settings)
        assert (reason is None) is served, reason
        if not served:
            assert "elements back" in str(reason)
            continue
        result = dispatchable(f"signal.{name}")([1.0], given, on_device(x), **settings)
        expected = scipy_function(f"signal.{name}")([1.0], a, x, **settings)
        compare(f"signal.{name}", "float64", on_host(result), expected)


@pytest.mark.parametrize("a", [[1.0, -0.5], [1, 0.2, -0.3], [1.0, 0, 0, 0.4]], ids=len)
@pytest.mark.parametrize("settings", [{}, {"padtype": None}, {"method": "gust"}], ids=str)
def test_both_ways_with_a_longer_numerator(a: list[float], settings: dict[str, Any]) -> None:
    b = np.hamming(12)
    expected = scipy_function("signal.filtfilt")(b, a, LINE.repeat(4), **settings)
    result = dispatchable("signal.filtfilt")(b, a, on_device(LINE.repeat(4)), **settings)
    compare("signal.filtfilt", "float64", on_host(result), expected)


def test_medians_of_nothing() -> None:
    """Shapes and types for empty arrays are the same as SciPy's."""
    for name, dtype in product(("welch", "csd"), ("float64", "float32", "complex64")):
        arrays = (np.zeros(0, dtype),) * (1 + (name == "csd"))
        settings = {"nperseg": 4, "average": "median"}
        expected = quietly(scipy_function(f"signal.{name}"), *arrays, **settings)
        same = on_device(arrays[0])
        result = quietly(dispatchable(f"signal.{name}"), *[same] * len(arrays), **settings)
        assert [each.shape for each in on_host(result)] == [each.shape for each in expected]
        assert [each.dtype for each in on_host(result)] == [each.dtype for each in expected]


@pytest.mark.parametrize("name", ["fftconvolve", "oaconvolve"])
def test_an_axis_that_is_not_there_is_refused(name: str) -> None:
    for function, x in (
        (scipy_function(f"signal.{name}"), LINE),
        (dispatchable(f"signal.{name}"), on_device(LINE)),
    ):
        with pytest.raises(ValueError, match=r"ax[ei]s"):
            function(x, x, axes=3)


def test_the_cross_spectrum_with_itself_has_medians() -> None:
    x = on_device(LINE)
    result = dispatchable("signal.csd")(x, x, nperseg=8, average="median")
    expected = scipy_function("signal.csd")(LINE, LINE, nperseg=8, average="median")
    compare("signal.csd", "float64", on_host(result), expected)


WINDOWS: list[Any] = [
    *("barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "cosine"),
    *("exponential", "flattop", "hamming", "hann", "lanczos", "nuttall", "poisson"),
    *("triang", "tuk", "tukey", ("chebwin", 60), ("gaussian", 7)),
    *(("general_cosine", [0.6, 0.4]), ("general_gaussian", 1.5, 7), ("general_hamming", 0.6)),
    *(("kaiser", 5.0), ("kaiser_bessel_derived", 5.0), ("tukey", 0.3)),
    *(("exponential", None, 4.0), ("exponential", None), ("tukey",), ("poisson",)),
]
LEFT: list[Any] = ["parzen", ("parzen",), "par", "taylor", ("taylor", 4, 30), ("dpss", 2.5)]
LEFT += ["hamming_periodic"]


@pytest.mark.parametrize("window", WINDOWS + LEFT, ids=str)
def test_windows_are_scipy_s(window: Any) -> None:
    """Windows equal SciPy's at any length, or the call is left to SciPy."""
    import cupy

    line = np.random.default_rng(0).normal(size=200)
    impulse = np.zeros(64)
    impulse[20] = 1
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        *[("welch", (line,), {"nperseg": length}) for length in (5, 6, 7, 8, 64)],
        *[("resample_poly", (impulse, up, 1), {}) for up in (2, 3)],
        ("resample", (impulse, 40), {}),
        *[("firwin", (length, cupy.asarray(0.3)), {}) for length in (15, 16)],
    ]
    ran = False
    for name, args, settings in calls:
        arrays = on_device(args)
        if quietly(why, f"signal.{name}", *arrays, **settings, window=window):
            continue
        try:
            expected = scipy_function(f"signal.{name}")(*on_host(args), **settings, window=window)
        except ValueError:  # such as an odd length for Kaiser's and Bessel's window
            continue
        result = dispatchable(f"signal.{name}")(*arrays, **settings, window=window)
        compare(f"signal.{name}", "float64", on_host(result), expected)
        ran = True
    assert ran == (window not in LEFT)


@pytest.mark.parametrize("name", ["fftconvolve", "oaconvolve"])
def test_one_element_multiplies_in_the_arrays_type(name: str) -> None:
    arrays = LINE > 1, LINE[:1] > 1
    expected = scipy_function(f"signal.{name}")(*arrays)
    result = on_host(dispatchable(f"signal.{name}")(*on_device(arrays)))
    assert result.dtype == expected.dtype == bool
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_transforms_of_halves_however_arrays_lie(dtype: str) -> None:
    """CuPy would use the memory layout from before the conversion."""
    x, y = (np.arange(1, 25).reshape(shape).astype(dtype) for shape in ((2, 4, 3), (2, 3, 4)))
    for lay in (in_columns, turned_columns, turned, stepped):
        for name in ("convolve", "correlate", "fftconvolve", "oaconvolve"):
            settings = {"method": "fft"} if name in ("convolve", "correlate") else {}
            expected = scipy_function(f"signal.{name}")(x, y, **settings)
            for one, other in ((lay(x), lay(y)), (on_device(x), lay(y)), (lay(x), on_device(y))):
                result = dispatchable(f"signal.{name}")(one, other, **settings)
                compare(f"signal.{name}", kind_of(dtype), on_host(result), expected)
        for name in ("rfft2", "rfftn", "irfft2", "irfftn", "hfft2", "hfftn", "ihfft2", "ihfftn"):
            expected = scipy_function(f"fft.{name}")(x)
            result = dispatchable(f"fft.{name}")(lay(x))
            compare(f"fft.{name}", kind_of(dtype), on_host(result), expected)


@pytest.mark.parametrize("normalize", [False, True])
def test_lombscargle(normalize: bool) -> None:
    """The mean is removed, and the power is normalized by that of the data without it."""
    random = np.random.default_rng(0)
    times, frequencies = np.sort(random.uniform(0, 20, 60)), np.linspace(0.2, 5, 30)
    arrays = times, np.sin(2 * times) + random.normal(size=60) + 3, frequencies
    expected = scipy_function("signal.lombscargle")(*arrays, normalize=normalize)
    result = dispatchable("signal.lombscargle")(*on_device(arrays), normalize=normalize)
    compare("signal.lombscargle", "float64", on_host(result), expected)


@pytest.mark.parametrize("name", ["uniform_filter", "uniform_filter1d"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int64", "uint64"])
def test_means_of_whole_numbers(name: str, dtype: str) -> None:
    """Rounding errors of partial sums must not reduce the result by 1."""
    x = np.random.default_rng(0).integers(0, 120, (13, 17)).astype(dtype)
    signed = x if dtype.startswith("u") else x - 60
    settings: tuple[dict[str, Any], ...] = (
        *({"size": size} for size in (1, 3, 5, 7)),
        *({"size": 4, "mode": mode} for mode in ("mirror", "nearest", "wrap")),
        {"size": 4, "origin": 1, "mode": "constant", "cval": 3.5},
        {"size": 3, "output": np.int32},
        {"size": 3, "output": np.uint64},
    )
    if name == "uniform_filter":
        settings += (
            {"size": (1, 5)},
            {"size": (4, 5), "mode": ["wrap", "mirror"], "origin": (-1, 2)},
            {"size": 5, "axes": (-1,)},
            {"size": 3, "axes": ()},
        )
    else:
        settings += ({"size": 5, "axis": 0},)
    ours, scipys = (find(f"ndimage.{name}") for find in (dispatchable, scipy_function))
    for pixels in (x, signed, np.full((9, 9), 7, dtype), x / 8):
        for given in settings:
            if "axes" in given and "axes" not in signature(scipys).parameters:
                continue
            output = given.get("output", dtype)
            if np.dtype(output) in (np.uint32, np.uint64) and pixels.dtype.kind != "u":
                continue  # signed means do not fit into the type
            expected = scipys(pixels, **{**given, "output": output})
            result = ours(on_device(pixels), **{**given, "output": output})
            np.testing.assert_array_equal(on_host(result), expected)
            filled = on_device(np.zeros(expected.shape, output))
            assert ours(on_device(pixels), **{**given, "output": filled}) is filled
            np.testing.assert_array_equal(on_host(filled), expected)


@pytest.mark.parametrize("dtype", ["uint64", "int64"])
def test_interpolation_between_the_largest_numbers(dtype: str) -> None:
    """The limits are not exact doubles, and the next double above is out of range."""
    largest = np.full(5, np.iinfo(dtype).max - 600, dtype)
    for mode in ("nearest", "wrap", "mirror"):
        result = dispatchable("ndimage.shift")(on_device(largest), 0.3, mode=mode)
        off = on_host(result).astype(float) - largest.astype(float)
        assert np.abs(off).max() <= 2048


def test_means_are_told_of_windows_that_do_not_fit() -> None:
    """The error names the argument."""
    x = on_device(np.ones((4, 4), np.int16))
    with pytest.raises(RuntimeError, match="size= has 3 elements, for 2 axes"):
        dispatchable("ndimage.uniform_filter")(x, (3, 3, 3))
    for axes in (2, -3):
        with pytest.raises(IndexError):
            dispatchable("ndimage.uniform_filter")(x, 3, axes=axes)
    with pytest.raises(ValueError, match="an axis twice"):
        dispatchable("ndimage.uniform_filter")(x, 3, axes=(0, -2))


def test_arrays_for_the_caller_s_function_stay_arrays() -> None:
    """Any value in `extra_arguments` is passed on unchanged."""

    def second(x: Any, axis: int, output: Any, mode: str, cval: float, weights: Any) -> Any:
        correlate1d = dispatchable("ndimage.correlate1d")
        return correlate1d(x, weights * 2.0, axis, output, mode, cval)

    x, weights = image("float64"), np.array([1.0, -2.0, 1.0])
    expected = scipy_function("ndimage.generic_laplace")(x, second, extra_arguments=(weights,))
    laplace = dispatchable("ndimage.generic_laplace")
    result = laplace(on_device(x), second, extra_arguments=(on_device(weights),))
    compare("ndimage.generic_laplace", "float64", on_host(result), expected)


MISTAKES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("ndimage.sobel", (LINE,), {"mode": "foo"}),
    ("ndimage.median_filter", (LINE * 1j, 3), {}),
    ("ndimage.maximum_filter1d", (LINE, -1), {}),
    ("ndimage.shift", (LINE, 0.5), {"order": 3.0}),
    ("ndimage.binary_erosion", (LINE > 0,), {"iterations": 1.0}),
    ("ndimage.affine_transform", (LINE[None], np.ones((1, 2))), {}),
    ("ndimage.affine_transform", (LINE[None], [1.0, 2.0, 3.0]), {}),
    ("ndimage.fourier_ellipsoid", (np.ones((2, 2, 2, 2)), 3), {}),
    ("ndimage.map_coordinates", (LINE, LINE[None] * 1j), {}),
    ("signal.hilbert", (LINE * 1j,), {}),
    ("signal.lfilter", (LINE[:2], np.ones((3, 3)), LINE), {}),
    ("signal.sosfiltfilt", (np.ones((2, 5)), LINE), {}),
    ("signal.minimum_phase", (LINE[:2], "hilbert"), {"half": False}),
    ("signal.upfirdn", (LINE[:2], LINE, 1, 0), {}),
    ("signal.resample_poly", (LINE, 1, 0), {}),
    ("signal.medfilt", (LINE > 0,), {}),
    ("fft.fft", (LINE[None],), {"axis": 2}),
    ("fft.dst", (LINE[None],), {"axis": 1.0}),
    ("fft.ihfft", (LINE,), {"n": 8.0}),
    ("fft.rfft2", (LINE[None],), {"s": (4, None)}),
    ("fft.irfft2", (LINE[None],), {"axes": (0, 2)}),
]
"""Wrong arguments, of which CuPy raises an error as SciPy does."""


@pytest.mark.parametrize(
    ("name", "args", "kwargs"), MISTAKES, ids=[f"{each[0]}-{n}" for n, each in enumerate(MISTAKES)]
)
def test_cupy_reports_mistakes_itself(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - of any class
        scipy_function(name)(*args, **kwargs)
    given = on_device(args)
    assert quietly(why, name, *given, **kwargs) is None
    with pytest.raises(Exception) as caught:  # noqa: PT011 - of any class
        quietly(dispatchable(name), *given, **kwargs)
    assert "Implicit conversion" not in str(caught.value)
