"""Random calls of functions of `scipy.ndimage`, drawn by Hypothesis.

They vary in data types, shapes, memory layouts, axes, boundary modes, origins, windows and
outputs; SciPy accepts nearly all. Arrays have ties, zeros of both signs, NaN and infinities.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st
from scipy import ndimage

from ._comparison import Call

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMPLEX", "FLOATS", "FUNCTIONS", "INTEGERS", "MODES", "arrays", "calls", "dtypes_of"]

MODES = [
    "reflect",
    "mirror",
    "nearest",
    "wrap",
    "constant",
    "grid-mirror",
    "grid-wrap",
    "grid-constant",
]
INTEGERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float32", "float64", ">f4", ">f8"]
RANKS = ["median_filter", "percentile_filter", "rank_filter"]
COMPLEX = ["complex64", "complex128"]
FUNCTIONS = [
    *("binary_closing", "binary_dilation", "binary_erosion", "binary_hit_or_miss"),
    *("binary_opening", "black_tophat", "convolve", "convolve1d"),
    *("correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d"),
    *("gaussian_gradient_magnitude", "gaussian_laplace", "grey_closing", "grey_dilation"),
    *("grey_erosion", "grey_opening", "laplace", "map_coordinates"),
    *("maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter"),
    *("minimum_filter1d", "morphological_gradient", "morphological_laplace", "percentile_filter"),
    *("prewitt", "rank_filter", "rotate", "sobel"),
    *("spline_filter", "spline_filter1d", "uniform_filter", "uniform_filter1d"),
    *("white_tophat",),
]
"""The functions of which `calls` makes calls."""


@st.composite
def arrays(
    draw: st.DrawFn,
    dtypes: list[str],
    least_dimensions: int = 1,
    may_be_empty: bool = True,
    finite: bool = False,
) -> Any:
    """Arrays of one to three dimensions, with ties, zeros of both signs, NaN and infinities."""
    dimensions = draw(st.integers(least_dimensions, 3))
    longest = {1: 200, 2: 40, 3: 14}[dimensions]
    shape = draw(
        st.lists(
            st.one_of(st.integers(1, longest), st.just(longest), st.sampled_from([0, 1, 2, 3])),
            min_size=dimensions,
            max_size=dimensions,
        ).filter(lambda shape: may_be_empty or all(shape))
    )
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = 100 * rng.standard_normal(shape)
    if draw(st.booleans()):
        values = np.round(values / 50)  # many ties, and zeros of both signs
    if dtype.kind in "biu":
        values = np.round(abs(values) if dtype.kind in "bu" else values)
        values = np.clip(values, *((0, 1) if dtype.kind == "b" else (-100, 200)))
        values = values.astype("int64")
    elif not finite and draw(st.integers(0, 3)) == 0:
        odd = rng.random(shape) < 0.03
        values[odd] = rng.choice([np.nan, np.inf, -np.inf], shape)[odd]
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    array = values.astype(dtype)
    layout = draw(st.sampled_from(["C", "C", "F", "strided", "reversed"]))
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "strided":
        wide = np.zeros([2 * length for length in array.shape], dtype)
        wide[(slice(None, None, 2),) * array.ndim] = array
        return wide[(slice(None, None, 2),) * array.ndim]
    if layout == "reversed":
        return array[::-1]
    return array


def dtypes_of(name: str) -> list[str]:
    """Return the data types of arrays that the function accepts."""
    if name in ("correlate", "convolve", "correlate1d", "convolve1d", "uniform_filter1d"):
        return INTEGERS + FLOATS + COMPLEX
    if name in ("gaussian_filter1d", "uniform_filter", "map_coordinates", "rotate"):
        return INTEGERS[1:] + FLOATS + COMPLEX
    if name in ("white_tophat", "black_tophat", "morphological_gradient"):
        return INTEGERS[1:] + FLOATS
    return INTEGERS + FLOATS


@st.composite
def calls(
    draw: st.DrawFn, name: str, dtypes: Sequence[str] | None = None, finite: bool = False
) -> Call:
    """Calls of a function of `scipy.ndimage` with arguments that it accepts.

    Parameters
    ----------
    draw : callable
        Given by Hypothesis.
    name : str
        The function, such as ``"sobel"``; one of `FUNCTIONS`.
    dtypes : sequence of str, optional
        The data types of arrays; those of them that SciPy's function accepts.
    finite : bool, optional
        Whether arrays have no NaN and no infinities.
    """
    accepted = dtypes_of(name)
    if dtypes is not None:
        accepted = [each for each in accepted if each in dtypes]
    # For an empty input, SciPy's interpolation reads out of bounds.
    may_be_empty = name not in ("map_coordinates", "rotate")
    # For a 1-d array and an output of a smaller type, SciPy's rank filters write out of bounds.
    # The backend never splits these calls, so leaving them out loses no coverage.
    least_dimensions = 2 if name in (*RANKS, "rotate") else 1
    array = draw(arrays(accepted, least_dimensions, may_be_empty, finite))
    parameters = inspect.signature(getattr(ndimage, name)).parameters
    arguments: dict[str, Any] = {}
    axes: list[int] = list(range(array.ndim))
    if "axis" in parameters:
        axes = [draw(st.sampled_from(axes))]
        sign = draw(st.sampled_from([0, array.ndim]))
        arguments["axis"] = axes[0] - sign
        if name in ("sobel", "prewitt"):
            axes = list(range(array.ndim))
    elif "axes" in parameters and name != "rotate" and draw(st.booleans()):
        # In order: otherwise SciPy combines origins and windows of different axes and reads out
        # of bounds.
        axes = sorted(draw(st.lists(st.sampled_from(axes), min_size=1, unique=True)))
        arguments["axes"] = tuple(axis - draw(st.sampled_from([0, array.ndim])) for axis in axes)

    number = len(axes)
    if name in ("map_coordinates", "rotate", "spline_filter", "spline_filter1d"):
        _interpolation(draw, name, array, arguments, finite)
    elif name.startswith("binary"):
        _binary(draw, name, array, axes, arguments)
    else:
        if "cval" in parameters:
            arguments["cval"] = draw(
                st.sampled_from([0.0, 0.0, 7.0, 2.5, *([] if finite else [np.nan])])
            )
        _window(draw, name, number, arguments)
        one_mode = "axis" in arguments and name not in ("sobel", "prewitt")
        one_mode = one_mode or name in ("correlate", "convolve") or "footprint" in arguments
        one_mode = one_mode or "structure" in arguments or name in RANKS
        mode = st.sampled_from(MODES)
        if one_mode or draw(st.booleans()):
            arguments["mode"] = draw(mode)
        else:
            arguments["mode"] = draw(st.lists(mode, min_size=number, max_size=number))
    _output(draw, name, array, arguments)
    return Call((array,), arguments)


def _window(draw: st.DrawFn, name: str, number: int, arguments: dict[str, Any]) -> None:
    """Add the arguments that determine the size of the neighbourhood."""
    if name.startswith("gaussian"):
        sigma = st.sampled_from([0, 0.3, 0.8, 1.0, 1.7])
        if name == "gaussian_filter1d":
            arguments["sigma"] = draw(sigma.filter(bool))
            arguments["order"] = draw(st.integers(0, 3))
        elif name == "gaussian_gradient_magnitude":
            # This function smooths along all axes of the array, whatever `axes` is.
            arguments["sigma"] = draw(sigma)
        else:
            arguments["sigma"] = draw(st.one_of(sigma, _each(sigma, number)))
        if name == "gaussian_filter":
            order = st.integers(0, 3)
            arguments["order"] = draw(st.one_of(order, _each(order, number)))
        if draw(st.booleans()):
            arguments["truncate"] = draw(st.sampled_from([1.0, 2.5]))
        elif draw(st.booleans()):
            arguments["radius"] = draw(st.integers(0, 4))
        return
    if name in ("sobel", "prewitt", "laplace"):
        return
    sizes = draw(_each(st.integers(1, 5), number))
    if name.endswith("1d"):
        sizes = sizes[:1]
    origins = [draw(st.integers(-(size // 2), (size - 1) // 2)) for size in sizes]
    # A dilation reflects an even window, for which one origin less is valid.
    if name in ("correlate", "convolve", "correlate1d", "convolve1d"):
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        weights = rng.standard_normal(sizes)
        if draw(st.integers(0, 3)) == 0:
            weights = weights + 1j * rng.standard_normal(sizes)
            arguments["cval"] = 0.0
        arguments["weights"] = weights
    elif name.endswith("1d"):
        arguments["size"] = sizes[0]
    else:
        kinds = ["size", "footprint"]
        if "grey" in name or "tophat" in name or "morpho" in name:
            kinds += ["structure", "both"]
        kind = "size" if name == "uniform_filter" else draw(st.sampled_from(kinds))
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        if kind == "size":
            equal = len(set(sizes)) == 1 and draw(st.booleans())
            arguments["size"] = sizes[0] if equal else sizes
        if kind in ("footprint", "both"):
            footprint = rng.random(sizes) < draw(st.sampled_from([0.5, 1.0]))
            footprint.flat[0] = True
            arguments["footprint"] = footprint
        if kind in ("structure", "both"):
            arguments["structure"] = np.round(3 * rng.standard_normal(sizes))
    if "rank" in name:
        window = arguments.get("footprint")
        count = np.prod(sizes) if window is None else window.sum()
        arguments["rank"] = draw(st.integers(-int(count), int(count) - 1))
    if name == "percentile_filter":
        arguments["percentile"] = draw(st.sampled_from([0, 10, 33.3, 50, 80, 100, -20]))
    # An opening reflects its window, so that only origins of windows of odd sizes are always
    # valid.
    if name in ("grey_erosion", "minimum_filter", "maximum_filter", "uniform_filter"):
        arguments["origin"] = origins
    elif name.endswith("1d"):
        arguments["origin"] = origins[0]
    elif all(size % 2 for size in sizes):
        arguments["origin"] = origins


def _binary(
    draw: st.DrawFn, name: str, array: Any, axes: list[int], arguments: dict[str, Any]
) -> None:
    number = len(axes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))

    def structure(suffix: str) -> None:
        sizes = [3] * number
        if suffix == "2" or draw(st.booleans()):
            sizes = draw(_each(st.integers(1, 4), number))
            array = rng.random(sizes) < 0.8
            array.flat[0] = True
            arguments["structure" + suffix] = array
        if all(size % 2 for size in sizes):
            arguments["origin" + suffix] = [
                draw(st.integers(-(size // 2), size // 2)) for size in sizes
            ]

    if name == "binary_hit_or_miss":
        structure("1")
        if draw(st.booleans()):
            structure("2")
            arguments.setdefault("origin2", 0)
        return
    structure("")
    # For repeated structures longer than the input, SciPy reads out of bounds.
    longest = np.shape(arguments.get("structure", np.ones((3,) * number)))
    if all(size <= array.shape[axis] for size, axis in zip(longest, axes, strict=True)):
        arguments["iterations"] = draw(st.sampled_from([1, 1, 2, 3]))
    arguments["border_value"] = draw(st.integers(0, 1))
    arguments["brute_force"] = draw(st.booleans())
    if draw(st.booleans()):
        arguments["mask"] = rng.random(array.shape) < 0.8


def _interpolation(
    draw: st.DrawFn, name: str, array: Any, arguments: dict[str, Any], finite: bool
) -> None:
    arguments["order"] = draw(st.integers(0 if "spline" not in name or "1d" in name else 2, 5))
    arguments["mode"] = draw(st.sampled_from(MODES))
    if "spline" in name:
        return
    arguments["prefilter"] = draw(st.booleans())
    arguments["cval"] = draw(st.sampled_from([0.0, 7.0] if finite else [0.0, 7.0, np.nan]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if name == "rotate":
        arguments["angle"] = draw(st.sampled_from([0, 30, 90, -77.5]))
        arguments["reshape"] = draw(st.booleans())
        arguments["axes"] = draw(
            st.lists(st.sampled_from(range(array.ndim)), min_size=2, max_size=2, unique=True)
        )
    else:
        shape = draw(st.sampled_from([(50,), (7, 9), (9, 7), (1, 60)]))
        longest = np.reshape(array.shape, (-1,) + (1,) * len(shape))
        arguments["coordinates"] = (1.4 * rng.random((array.ndim, *shape)) - 0.2) * longest


def _output(draw: st.DrawFn, name: str, array: Any, arguments: dict[str, Any]) -> None:
    kind = draw(st.sampled_from(["none", "none", "dtype", "array", "in place"]))
    is_complex = array.dtype.kind == "c" or np.iscomplexobj(arguments.get("weights"))
    dtypes = COMPLEX if is_complex else ["float64", "float32", "int16", "uint8", "int64"]
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    if kind == "dtype":
        arguments["output"] = draw(st.sampled_from([dtype, dtype.type, dtype.name]))
    elif kind == "array" and name != "rotate":
        shape = array.shape
        if name == "map_coordinates":
            shape = arguments["coordinates"].shape[1:]
        arguments["output"] = np.full(shape, 3, dtype, order=draw(st.sampled_from("CF")))
    # SciPy's binary morphology does not write to arrays of non-native byte order.
    is_foreign = name.startswith("binary") and not array.dtype.isnative
    if kind == "in place" and name not in ("rotate", "map_coordinates") and not is_foreign:
        arguments["output"] = array


def _each(values: st.SearchStrategy[Any], number: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=number, max_size=number)
