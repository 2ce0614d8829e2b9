"""Calls for comparisons: one call of every function, and many over modes, axes and types."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np

from scipy_dispatch.testing import SAMPLES, kinds_of, scipy_function
from scipy_dispatch_cupy._limits import LEFT_OUT
from scipy_dispatch_cupy._map import FUNCTIONS

MODES = ("reflect", "nearest", "mirror", "constant", "wrap")
TYPES = ("bool", "uint8", "int16", "int64", "float32", "float64", "complex64")
REAL = TYPES[:-1]


class Case(NamedTuple):
    """A call to compare."""

    name: str
    kind: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    title: str

    def __str__(self) -> str:
        return f"{self.name} {self.title}".strip()


def kind_of(dtype: Any) -> str:
    """Return the column of the table of tolerances for a data type."""
    return kinds_of(np.dtype(dtype))[0]


def image(dtype: str, shape: tuple[int, ...] = (13, 17), distinct: bool = False) -> np.ndarray:
    """Return an array of small values, which are all different if `distinct`."""
    random = np.random.default_rng(zlib.crc32(f"{dtype}{shape}".encode()))
    if dtype == "bool":
        return random.random(shape) > 0.4
    if distinct:
        values = random.permutation(int(np.prod(shape))).reshape(shape) % 251
        return values.astype(dtype)
    values = random.uniform(0, 50, shape)
    if dtype.startswith("complex"):
        values = values + 1j * random.uniform(0, 50, shape)
    return values.astype(dtype)


def present(name: str) -> bool:
    """Return whether the installed SciPy has a function, such as ``"ndimage.sobel"``."""
    try:
        scipy_function(name)
    except AttributeError:
        return False
    return True


SERVED = [
    f"{module}.{name}"
    for module, functions in FUNCTIONS.items()
    for name in functions
    if name not in LEFT_OUT[module] and present(f"{module}.{name}")
]


def difference(input: Any, axis: int, output: Any, mode: str, cval: float) -> Any:
    """Return a derivative, with the package that the array belongs to."""
    from importlib import import_module

    package = "scipy" if isinstance(input, np.ndarray) else "cupyx.scipy"
    ndimage = import_module(f"{package}.ndimage")
    weights = np.array([-1.0, 0.0, 1.0])
    if package != "scipy":
        import cupy

        weights = cupy.asarray(weights)
    return ndimage.correlate1d(input, weights, axis, output, mode, cval)


def sample(name: str) -> Case:
    args, kwargs = SAMPLES[name].fresh()
    if name in ("ndimage.generic_laplace", "ndimage.generic_gradient_magnitude"):
        args = (args[0], difference)
    if name in ("signal.lfilter", "signal.sosfilt"):
        kwargs = {}  # CuPy's initial state has another shape
    if name == "signal.lombscargle":
        kwargs = {}  # CuPy does not support weights
    if name == "signal.argrelextrema":
        args = args[:1]
        return Case(name, "float64", (*args, GREATER), kwargs, "")
    return Case(name, "float64", args, kwargs, "")


class _Greater:
    """A comparator that uses CuPy for arrays on the device, and NumPy on the host."""

    def __repr__(self) -> str:
        return "GREATER"


GREATER = _Greater()

_WINDOW: dict[str, dict[str, Any]] = {
    "minimum_filter": {"size": (3, 4)},
    "maximum_filter": {"size": 3},
    "minimum_filter1d": {"size": 4, "axis": 0},
    "maximum_filter1d": {"size": 3},
    "median_filter": {"size": 3},
    "rank_filter": {"rank": 2, "size": 3},
    "percentile_filter": {"percentile": 30, "size": 3},
    "grey_erosion": {"size": 3},
    "grey_dilation": {"size": 3},
    "grey_opening": {"size": 3},
    "grey_closing": {"size": 3},
}
_SUMS: dict[str, dict[str, Any]] = {
    "uniform_filter": {"size": 3},
    "uniform_filter1d": {"size": 4, "axis": 0},
    "gaussian_filter": {"sigma": (1, 1.5)},
    "gaussian_filter1d": {"sigma": 1.2, "axis": 0, "order": 1},
    "gaussian_laplace": {"sigma": 1},
    "gaussian_gradient_magnitude": {"sigma": 1},
    "sobel": {"axis": 0},
    "prewitt": {"axis": 1},
    "laplace": {},
    "convolve": {"weights": np.array([[0.0, 1.0], [2.0, 3.0], [1.0, 0.5]])},
    "correlate": {"weights": np.array([[0.0, 1.0], [2.0, 3.0], [1.0, 0.5]])},
    "convolve1d": {"weights": np.array([1.0, 2.0, 0.5]), "axis": 0},
    "correlate1d": {"weights": np.array([1.0, 2.0, 0.5])},
}
_DIFFERENCES = ("morphological_gradient", "morphological_laplace", "white_tophat", "black_tophat")
_POINTS: dict[str, dict[str, Any]] = {
    "shift": {"shift": (0.3, -1.7)},
    "zoom": {"zoom": (1.3, 0.8)},
    "rotate": {"angle": 33.0},
    "affine_transform": {"matrix": np.array([[0.913, 0.107], [-0.113, 0.859]]), "offset": 0.37},
    "map_coordinates": {"coordinates": np.array([[0.3, 2.6, 7.7, 14.2], [1.2, 1.7, 4.9, 18.3]])},
}
_BINARY = ("binary_erosion", "binary_dilation", "binary_opening", "binary_closing")

_BUMP = np.array([[0.5, 1.0, 0.5], [1.0, -2.0, 1.5], [0.25, 1.0, 3.0]])
# A list, because the backend does not read the elements of arrays on the GPU.
_HILL = (_BUMP + 2).tolist()
_EDGE = [_HILL[0][:2], _HILL[1][:2]]
_TYPED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ndimage.gaussian_filter", {"sigma": 1.0}),
    ("ndimage.uniform_filter", {"size": 3}),
    ("ndimage.correlate", {"weights": _BUMP}),
    ("ndimage.maximum_filter", {"size": 3}),
    ("ndimage.median_filter", {"size": 3}),
    ("ndimage.grey_opening", {"size": 3}),
    ("ndimage.morphological_gradient", {"size": 3}),
    ("ndimage.shift", {"shift": (0.3, -1.7)}),
    ("ndimage.spline_filter", {}),
    ("ndimage.binary_erosion", {}),
    ("ndimage.binary_fill_holes", {}),
)
"""Data types for ``output=``."""
_PADDED: dict[str, Any] = {"mode": "constant", "cval": 300.5}
_FURTHER: tuple[tuple[str, str, dict[str, Any]], ...] = (
    *(("uint8", "uniform_filter", {"size": size}) for size in (5, 9)),
    *(("int16", "uniform_filter", {"size": size, "mode": "wrap"}) for size in (5, 9)),
    *(("uint8", "gaussian_filter", {"sigma": sigma}) for sigma in (0.7, 3.0)),
    *((each, "convolve1d", {"weights": np.array([1j, 2])}) for each in ("float32", "float64")),
    *((each, "correlate", {"weights": _BUMP * (1 + 2j)}) for each in ("uint8", "complex64")),
    *((each, "convolve", {"weights": _BUMP * (1 + 2j)}) for each in ("float64", "complex64")),
    *(("float64", each, {"axis": -1, **_PADDED}) for each in ("sobel", "prewitt")),
    *(("float64", each, {"axis": -2, **_PADDED}) for each in ("sobel", "prewitt")),
    *(("float64", each, {"sigma": 0.1}) for each in ("gaussian_filter", "gaussian_laplace")),
    *(("float64", "gaussian_filter", {"sigma": 0.1, "order": order}) for order in (0, 1)),
    ("float64", "gaussian_filter", {"sigma": 1, "order": 1, "radius": 0}),
    ("float64", "gaussian_filter", {"sigma": (0, 1), "order": (1, 2), "radius": 2}),
    ("float64", "gaussian_gradient_magnitude", {"sigma": 0.1}),
    *((each, "grey_dilation", {"structure": _HILL}) for each in ("uint8", "float32", "float64")),
    *((each, "grey_erosion", {"structure": _HILL[:2]}) for each in ("int16", "float64")),
    *(("float64", each, {"structure": _EDGE}) for each in ("grey_dilation", "grey_closing")),
    *(("float64", each, {"size": 3, "structure": _HILL}) for each in _DIFFERENCES),
    ("float64", "grey_opening", {"structure": _HILL[0], "axes": (1,)}),
    ("float64", "grey_dilation", {"structure": _HILL, "footprint": _BUMP > 0.5, "origin": 1}),
    *((each, "median_filter", {"size": 3, **_PADDED}) for each in ("uint8", "int16", "float32")),
    *((each, "maximum_filter", {"size": 3, **_PADDED}) for each in ("bool", "uint8", "int16")),
    *(
        (each, "minimum_filter", {"footprint": _BUMP > 0.5, **_PADDED})
        for each in ("uint8", "int16")
    ),
    *(
        ("float64", "zoom", {"zoom": 1.7, "order": 1, **_PADDED, "grid_mode": grid})
        for grid in (0, 1)
    ),
    *(("float64", "zoom", {"zoom": 1.7, "mode": "grid-constant", "cval": each}) for each in (0, 2)),
    *(("float64", "zoom", {"zoom": 1.7, "mode": mode, "grid_mode": True}) for mode in MODES),
    *(("float64", "shift", {"shift": 0.3, "mode": mode, "order": 5}) for mode in MODES),
    *(
        ("uint8", "shift", {"shift": 0.3, "mode": "grid-constant", "cval": cval})
        for cval in (1, 1.7)
    ),
    *(("float64", each, {"mode": "grid-constant"}) for each in ("sobel", "laplace")),
    *((each, "zoom", {"zoom": 1, "order": 3}) for each in ("uint8", "float64")),
    *(("bool", "zoom", {"zoom": 1.7, "order": 0, "mode": mode}) for mode in MODES),
    *(("bool", "rotate", {"angle": 33.0, "order": 0, "cval": each}) for each in (0, 1, 0.5)),
    *(("float64", "rotate", {"angle": angle}) for angle in (np.float32(90), np.int64(33))),
    *(
        ("float64", "spline_filter", {"order": each, "mode": "reflect"})
        for each in (2, np.int64(5))
    ),
    ("float32", "shift", {"shift": 0.5, "cval": np.float32("nan")}),
    ("float64", "sobel", {"axis": 0, "mode": "constant", "cval": True}),
)
"""Settings whose meaning is close to that of other settings."""
_SHAPED: tuple[tuple[str, tuple[int, ...], str, dict[str, Any]], ...] = (
    *(
        ("float64", (19,), name, {**settings, "footprint": footprint})
        for name, settings in (
            ("median_filter", {}),
            ("rank_filter", {"rank": 1}),
            ("percentile_filter", {"percentile": 50}),
            ("maximum_filter", {}),
        )
        for footprint in ([1, 1, 1, 1], [0, 1, 1, 1])
    ),
    *(("int16", (19,), name, _WINDOW[name]) for name in ("median_filter", "rank_filter")),
    *(
        ("float64", (6, 7, 8), "rotate", {"angle": 33.0, "order": order, "prefilter": prefilter})
        for order in (1, 3)
        for prefilter in (0, 1)
    ),
    ("float64", (6, 7, 8), "shift", {"shift": (0.3, -1.7, 0.2), "prefilter": False}),
    ("float64", (6, 7, 8), "zoom", {"zoom": (1.3, 0.8, 1.5), "mode": "mirror"}),
    *(
        ("complex64", (13, 17), "zoom", {"zoom": 1.7, "mode": "mirror", "grid_mode": grid})
        for grid in (0, 1)
    ),
    *(
        ("float64", (13, 17), "zoom", {"zoom": 3, "mode": mode, "order": 1, "grid_mode": True})
        for mode in ("constant", "wrap", "grid-wrap")
    ),
    ("float64", (6, 7, 8), "sobel", {"axis": 1}),
    ("float64", (19,), "uniform_filter", {"size": 3, "mode": "constant", "cval": np.nan}),
    *(
        ("float64", (19,), "correlate1d", {"weights": weights, "mode": "constant", "cval": np.nan})
        for weights in ([0.0, 1.0, 1.0], [2.0, 1.0, 1.0])
    ),
)
"""Images of one and three dimensions, and complex images."""


def _cases() -> list[Case]:
    cases = [sample(name) for name in SERVED]

    def add(function: str, dtype: str, kwargs: dict[str, Any], *args: Any, title: str = "") -> None:
        text = " ".join(f"{key}={value}" for key, value in kwargs.items() if np.ndim(value) == 0)
        cases.append(
            Case(function, kind_of(dtype), args, kwargs, f"{dtype} {text} {title}".strip())
        )

    for mode in MODES:
        for function, settings in {**_WINDOW, **_SUMS}.items():
            distinct = function in _WINDOW
            types = REAL if distinct else TYPES
            for dtype in types:
                if dtype == "complex64" and function == "gaussian_gradient_magnitude":
                    continue
                x = image(dtype, distinct=distinct)
                cval = {"complex64": 0.0, "bool": 1.0}.get(dtype, 3.0)
                add(f"ndimage.{function}", dtype, {**settings, "mode": mode, "cval": cval}, x)
        for function in _DIFFERENCES:
            for dtype in ("int16", "float32", "float64"):
                x = image(dtype, distinct=True)
                add(f"ndimage.{function}", dtype, {"size": 3, "mode": mode}, x)
        for function, settings in _POINTS.items():
            for dtype in ("uint8", "int16", "float32", "float64"):
                for order in (0, 1, 3):
                    if mode == "reflect" and order > 1:
                        continue
                    more = {"mode": mode, "order": order, "cval": 2.0}
                    add(f"ndimage.{function}", dtype, {**settings, **more}, image(dtype))
    for cval in (float("nan"), float("inf")):
        for function in ("rotate", "affine_transform", "shift"):
            more = {"cval": cval, "order": 1}
            add(f"ndimage.{function}", "float32", {**_POINTS[function], **more}, image("float32"))
        more = {"cval": cval, "mode": "constant"}
        add("ndimage.correlate", "float64", {**_SUMS["correlate"], **more}, image("float64"))
    for function in ("gaussian_filter", "uniform_filter", "maximum_filter", "median_filter"):
        settings = {"sigma": 1.0} if function.startswith("gauss") else {"size": 3}
        for axes in ((0,), (2, 0)):
            x = image("float64", (6, 7, 8), distinct=True)
            add(f"ndimage.{function}", "float64", {**settings, "axes": axes}, x, title=f"{axes}")
    for function in _BINARY:
        for iterations in (1, 2, 3):
            kwargs = {"iterations": iterations, "border_value": iterations % 2}
            add(f"ndimage.{function}", "bool", kwargs, image("bool", (20, 21)))
    for name, settings in _TYPED:
        for output in (bool, np.uint8, np.float32, np.float64, np.complex128):
            for dtype in ("bool", "uint8", "float32", "float64", "complex64"):
                if dtype == "bool" and name.endswith("gradient"):
                    continue  # differences, which NumPy does not define for this type
                x, title = image(dtype, distinct=True), np.dtype(output).name
                case = Case(name, kind_of(output), (x,), {**settings, "output": output}, title)
                cases.append(case)
    for dtype, name, settings in _FURTHER:
        distinct = name not in _SUMS
        add(f"ndimage.{name}", dtype, settings, image(dtype, (25, 27), distinct))
    for size in (5, 9, 13):
        even = np.full((20, 21), 200, np.uint8)  # the mean is close to a rounding boundary
        add("ndimage.uniform_filter", "uint8", {"size": size}, even, title="even")
    for dtype, shape, name, settings in _SHAPED:
        distinct = name not in _SUMS
        add(f"ndimage.{name}", dtype, settings, image(dtype, shape, distinct), title=str(shape))
    for axis in (0, 1):
        settings, x = {"axis": axis, "output": np.int16}, image("float64")
        cases.append(Case("ndimage.sobel", "int", (x,), settings, f"int16 {axis}"))
        cases.append(Case("ndimage.prewitt", "int", (x,), settings, f"int16 {axis}"))
    holes = np.array([0, 0, 1, 0, 0, 1, 0, 0], bool)
    add("ndimage.binary_fill_holes", "bool", {}, holes, title=str(holes.shape))
    add("ndimage.binary_fill_holes", "uint8", {}, 3 * image("bool", (20, 21)).astype(np.uint8))
    add("ndimage.binary_fill_holes", "bool", {}, image("bool", (20, 21)))
    add("ndimage.binary_fill_holes", "bool", {"structure": [[1] * 3] * 3}, image("bool", (20, 21)))
    for size in (2, 3):
        x = image("bool", (9,) * size)
        add(
            "ndimage.distance_transform_edt", "bool", {"sampling": [1.5] * size}, x, title=f"{size}"
        )
        add("ndimage.label", "bool", {}, x, title=f"{size}")
    for name in [name for name in SERVED if name.startswith("fft.")]:
        if name.endswith(("fht", "ifht")):
            continue
        complex_too = not name.startswith(("fft.rfft", "fft.ihfft"))
        for dtype in ("int16", "float32", "float64", "complex64")[: 4 if complex_too else 3]:
            x = image(dtype, (6, 9))
            add(name, dtype, {}, x)
            if "shift" not in name:
                add(name, dtype, {"norm": "ortho"}, x)
            if not name.endswith(("2", "n", "shift")):
                add(name, dtype, {"axis": 0, "n": 8}, x)
            if name.endswith(("ctn", "stn")):
                add(name, dtype, {"type": 3, "axes": (1,)}, x, title="(1,)")
            if name.endswith(("2", "n")):
                add(name, dtype, {"s": (4, -1)}, x, title="(4, -1)")
                add(name, dtype, {"s": x.shape, "axes": (1, 0)}, x, title="another order")
                add(name, dtype, {"s": x.shape}, np.asfortranarray(x), title="columns")
    kernel = image("float64", (3, 4))
    for dtype in ("int16", "float32", "float64", "complex64"):
        x, small = image(dtype, (14, 15)), kernel.astype(dtype)
        for mode in ("full", "same", "valid"):
            for function in ("convolve", "correlate", "fftconvolve", "oaconvolve", "convolve2d"):
                add(f"signal.{function}", dtype, {"mode": mode}, x, small)
        line = image(dtype, (3, 64))
        add("signal.detrend", dtype, {"axis": 0}, line)
        add("signal.wiener", dtype, {"mysize": (3, 5)}, x)
        add("signal.resample", dtype, {"num": 20, "domain": "freq"}, line)
        for num, window in ((2, None), (20, "hann"), (5, None)):
            add("signal.resample", dtype, {"num": num, "window": window}, image(dtype, (9, 4)))
        if dtype != "complex64":
            add("signal.hilbert", dtype, {"N": 80}, line)
            add("signal.medfilt", dtype, {"kernel_size": 3}, image(dtype, (14, 15), distinct=True))
            add("signal.savgol_filter", dtype, {"window_length": 5, "polyorder": 2}, line)
            add("signal.resample_poly", dtype, {"up": 3, "down": 2, "axis": 1}, line)
            add("signal.resample", dtype, {"num": 50, "axis": 1}, line)
    for number in (0, 0.5, 1):
        time = np.linspace(0, 20, 31)
        add("signal.sawtooth", "float64", {"width": number}, time)
        add("signal.square", "float64", {"duty": number}, time)
    return cases


CASES = _cases()
