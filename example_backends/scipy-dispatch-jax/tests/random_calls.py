"""Random calls of functions, compared with SciPy: a table of generators.

    python tests/random_calls.py 100                 # 100 calls of each function
    python tests/random_calls.py 1000 ndimage.zoom   # of those with such names
    python tests/random_calls.py 100 --x32           # without jax_enable_x64

Each generator takes a random generator and returns the arguments of a call. The test of the same
name makes a few of these calls.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from comparison import MODES, check, has_64_bits
from scipy import signal

if TYPE_CHECKING:
    from collections.abc import Callable

    Random = np.random.Generator
    Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def some(r: Random, *choices: Any) -> Any:
    return choices[r.integers(len(choices))]


def real() -> Any:
    return np.float64 if has_64_bits() else np.float32


def array(r: Random, shapes: Any, kinds: str = "fib") -> np.ndarray:
    """Return an array of doubles, singles, integers, booleans or complex numbers."""
    x = r.uniform(-20, 20, shapes if isinstance(shapes[0], int) else some(r, *shapes))
    kind = some(r, *kinds)
    if kind == "i":
        x = np.abs(x) if r.random() < 0.3 else x
        return x.astype(np.uint8 if (x >= 0).all() else some(r, np.int16, np.int32))
    if kind == "c":
        return (x + 1j * r.normal(size=x.shape)).astype(np.result_type(real(), np.complex64))
    return x > 0 if kind == "b" else x.astype(np.float32 if kind == "s" else real())


SHAPES = ((7,), (5, 6), (1, 6), (3, 4, 5), (8, 3))
BLOBS = ((12,), (9, 9), (4, 5, 6), (20, 21))
LINES = ((60,), (2, 65), (61, 3))


def axes(r: Random, ndim: int) -> tuple[dict[str, Any], int]:
    if r.random() < 0.7:
        return {}, ndim
    count = int(r.integers(1, ndim + 1))
    return {"axes": tuple(map(int, r.permutation(ndim)[:count]))}, count


def window(r: Random, count: int, name: str) -> dict[str, Any]:
    shape = tuple(map(int, r.integers(1, 4, count)))
    chosen = r.random(shape) > 0.4
    chosen.flat[0] = True
    settings: dict[str, Any] = {name: chosen}
    if r.random() < 0.4:
        settings["origin"] = [int(r.integers(-(n // 2), (n - 1) // 2 + 1)) for n in shape]
    return settings


def grey(r: Random) -> Arguments:
    x = array(r, SHAPES, "fsi")
    settings, count = axes(r, x.ndim)
    settings |= window(r, count, "footprint")
    footprint = settings["footprint"]
    form = some(r, "size", "sizes", "footprint", "structure", "both")
    if form not in ("footprint", "both"):
        del settings["footprint"]
    if form == "size":
        settings |= {"size": int(r.integers(2, 5)), "origin": 0}
    elif form == "sizes":
        settings["size"] = footprint.shape
    if form in ("structure", "both"):
        heights = r.normal(size=footprint.shape) * 3
        settings["structure"] = heights if has_64_bits() else np.rint(heights)
    return (x,), {**settings, "mode": some(r, *MODES), "cval": some(r, 0, 2, 7)}


def binary(r: Random) -> Arguments:
    x = array(r, BLOBS + SHAPES, "bbif")
    settings, count = axes(r, x.ndim)
    settings |= window(r, count, "structure") if r.random() < 0.5 else {}
    if r.random() < 0.4:
        settings["mask"] = r.random(x.shape) > 0.4
    times = {"iterations": some(r, 1, 1, 2, 3, 0, -1)}
    return (x,), {**settings, **times, "border_value": some(r, 0, 1)}


def propagation(r: Random) -> Arguments:
    args, settings = binary(r)
    return args, {name: value for name, value in settings.items() if name != "iterations"}


def blobs(r: Random) -> Arguments:
    x = array(r, BLOBS, "b")
    return (x,), {"structure": np.ones((3,) * x.ndim, bool)} if r.random() < 0.5 else {}


def hit(r: Random) -> Arguments:
    x = array(r, BLOBS, "b")
    names = [name for name in ("structure1", "structure2") if r.random() < 0.5]
    return (x,), {name: r.random((3,) * x.ndim) > 0.6 for name in names}


def spline(r: Random) -> dict[str, Any]:
    settings = {"order": int(r.integers(0, 6)), "mode": some(r, *MODES), "cval": some(r, 0.0, 1.5)}
    return {**settings, "prefilter": False} if r.random() < 0.1 else settings


def coordinates(r: Random) -> Arguments:
    x = array(r, SHAPES, "ffsic")
    return (x, (r.integers(-40, 60, (x.ndim, 2, 3)) / 8 + 1 / 32).astype(real())), spline(r)


def shift(r: Random) -> Arguments:
    x = array(r, SHAPES, "ffsic")
    return (x, some(r, float(r.uniform(-5, 5)), r.uniform(-5, 5, x.ndim).tolist(), 2)), spline(r)


def zoom(r: Random) -> Arguments:
    x = array(r, SHAPES, "ffsic")
    factor = some(r, float(r.uniform(0.3, 3)), r.uniform(0.4, 2.5, x.ndim).tolist(), 2, 1)
    return (x, factor), {**spline(r), "grid_mode": bool(r.random() < 0.2)}


def affine(r: Random) -> Arguments:
    x = array(r, SHAPES, "ffsic")
    matrix, offset = r.normal(size=(x.ndim, x.ndim)), r.normal(size=x.ndim)
    whole = np.c_[matrix, offset]
    bottom = np.eye(x.ndim + 1)[-1:]
    args = some(r, (r.uniform(0.5, 2, x.ndim), offset), (matrix, offset), (whole,), (matrix, 0.5))
    args = (np.vstack([whole, bottom]),) if r.random() < 0.2 else args
    # Known coordinates are doubles; those of JAX arrays without double precision are not.
    args = tuple(np.asarray(each).tolist() for each in args)
    shape = {"output_shape": tuple(map(int, r.integers(1, 6, x.ndim)))}
    return (x, *args), {**spline(r), **(shape if r.random() < 0.3 else {})}


def rotate(r: Random) -> Arguments:
    x = array(r, SHAPES[1:], "ffsic")
    plane = tuple(map(int, r.permutation(x.ndim)[:2]))
    settings = {"axes": plane, "reshape": bool(r.random() < 0.5)}
    return (x, some(r, float(r.uniform(-180, 180)), 90, 45)), {**spline(r), **settings}


def coefficients(r: Random) -> Arguments:
    x = array(r, SHAPES, "fsi")
    return (x, int(r.integers(2, 6))), {"mode": some(r, *MODES)}


def statistic(r: Random) -> Arguments:
    x = array(r, SHAPES, "fsib")
    return _labelled(r, x)


def _labelled(r: Random, x: np.ndarray) -> Arguments:
    labels = r.integers(0, 4, x.shape)
    labels.flat[0] = 1
    index = some(r, None, 1, [1, 2, 3], [3, 1, 1], np.arange(1, 5))
    return (x, *some(r, (), (labels,), (labels, index), (labels, index))), {}


def point(r: Random) -> Arguments:
    x = array(r, SHAPES)
    different = r.permutation(x.size).reshape(x.shape) + 1
    return _labelled(r, different.astype(some(r, real(), np.int16)))


def distances(r: Random) -> Arguments:
    x = array(r, BLOBS, "b")
    x.flat[0] = False
    return (x,), {"sampling": some(r, None, 2, list(r.uniform(0.5, 2, x.ndim)))}


def longest(x: np.ndarray) -> dict[str, int]:
    return {"axis": int(np.argmax(x.shape))}


def savgol(r: Random) -> Arguments:
    x = array(r, LINES, "fsi")
    mode = some(r, "mirror", "constant", "nearest", "interp", "wrap")
    settings = {"deriv": int(r.integers(0, 4)), "delta": some(r, 1.0, 0.5), "mode": mode}
    return (x, some(r, 5, 7, 11, 8), int(r.integers(0, 4))), {**settings, **longest(x)}


def steps(r: Random) -> Arguments:
    h, x = array(r, ((1,), (2,), (10,)), "fsic"), array(r, LINES, "fsic")
    return (h, x, *map(int, r.integers(1, 5, 2))), longest(x)


def polyphase(r: Random) -> Arguments:
    x = array(r, LINES, "fsic")
    pads = ("constant",) if x.dtype.kind == "c" else ("constant", "mean", "median", "maximum")
    windows = (("kaiser", 5.0), "hann", r.normal(size=11).astype(real()))
    settings = {"padtype": some(r, *pads), "window": some(r, *windows), **longest(x)}
    return (x, *map(int, r.integers(1, 7, 2))), settings


def resampled(r: Random) -> Arguments:
    x = array(r, LINES, "fsic")
    return (x, int(r.integers(1, 99))), {"window": some(r, None, None, "hann"), **longest(x)}


def decimated(r: Random) -> Arguments:
    x = array(r, LINES, "fs")
    kinds = {"ftype": some(r, "iir", "fir"), "zero_phase": bool(r.random() < 0.5)}
    return (x, int(r.integers(2, 4))), {**kinds, **longest(x)}


def recursive(r: Random) -> tuple[np.ndarray, np.ndarray]:
    b, a = some(r, signal.butter(3, 0.3), (r.normal(size=4), [2.0]), ([0.5], [1, -0.5]))
    return np.asarray(b, real()), np.asarray(a, real())


def filtered(r: Random) -> Arguments:
    x, (b, a) = array(r, LINES, "fsic"), recursive(r)
    settings: dict[str, Any] = longest(x)
    if r.random() < 0.4:
        shape = list(x.shape)
        shape[settings["axis"]] = max(b.size, a.size) - 1
        settings["zi"] = r.normal(size=shape).astype(real())
    return (b, a, x), settings


def sections(r: Random) -> Arguments:
    x = array(r, LINES, "fs")
    return (signal.butter(some(r, 4, 5), 0.3, output="sos").astype(real()), x), longest(x)


def pads(r: Random) -> dict[str, Any]:
    return {"padtype": some(r, "odd", "even", "constant", None), "padlen": some(r, None, 5)}


def both_ways(r: Random) -> Arguments:
    x = array(r, LINES, "fs")
    return (*recursive(r), x), {**pads(r), **longest(x)}


def sections_both_ways(r: Random) -> Arguments:
    args, settings = sections(r)
    return args, {**settings, **pads(r)}


def medians(r: Random) -> Arguments:
    return (array(r, ((7, 8), (5, 5)), "fsi"), some(r, 3, 5, (3, 5))), {}


def orders(r: Random) -> Arguments:
    x = array(r, SHAPES, "fsi")
    domain = r.random((3,) * x.ndim) > 0.3
    domain.flat[0] = True
    return (x, domain, int(r.integers(0, domain.sum()))), {}


def noisy(r: Random) -> Arguments:
    return (array(r, SHAPES, "fs"), 3), some(r, {}, {"noise": 3.0})


def coherent(r: Random) -> Arguments:
    settings = {"nperseg": some(r, 16, 20), "window": some(r, "hann", ("kaiser", 3.0))}
    x, y = (r.normal(size=(2, 80)).astype(real()) for _ in range(2))
    return (x, y), {**settings, "detrend": some(r, "constant", "linear", False)}


def planes(r: Random) -> Arguments:
    return (array(r, SHAPES[1:], "fsi"), some(r, None, 6, (4, 9))), {}


def products(r: Random) -> Arguments:
    shapes = ((4, 5), (6, 7)), ((2, 3), (4, 5))
    first, second = (array(r, each, "fsc") for each in shapes)
    return (first, second), {"mode": some(r, "full", "same", "valid")}


GENERATORS: dict[str, Callable[[Random], Arguments]] = {
    **{f"ndimage.grey_{name}": grey for name in ("erosion", "dilation", "opening", "closing")},
    **{f"ndimage.morphological_{name}": grey for name in ("gradient", "laplace")},
    **{f"ndimage.{name}_tophat": grey for name in ("white", "black")},
    **{f"ndimage.binary_{name}": binary for name in ("erosion", "dilation", "opening", "closing")},
    "ndimage.binary_propagation": propagation,
    "ndimage.binary_fill_holes": blobs,
    "ndimage.binary_hit_or_miss": hit,
    "ndimage.map_coordinates": coordinates,
    "ndimage.shift": shift,
    "ndimage.zoom": zoom,
    "ndimage.affine_transform": affine,
    "ndimage.rotate": rotate,
    **dict.fromkeys(("ndimage.spline_filter", "ndimage.spline_filter1d"), coefficients),
    **{f"ndimage.{name}": statistic for name in ("sum", "sum_labels", "mean", "variance")},
    **{f"ndimage.{name}": statistic for name in ("standard_deviation", "minimum", "maximum")},
    **{f"ndimage.{name}": point for name in ("extrema", "center_of_mass")},
    **{f"ndimage.{name}_position": point for name in ("minimum", "maximum")},
    "ndimage.label": blobs,
    "ndimage.distance_transform_edt": distances,
    "signal.savgol_filter": savgol,
    "signal.upfirdn": steps,
    "signal.resample_poly": polyphase,
    "signal.resample": resampled,
    "signal.decimate": decimated,
    "signal.lfilter": filtered,
    "signal.filtfilt": both_ways,
    "signal.sosfilt": sections,
    "signal.sosfiltfilt": sections_both_ways,
    **dict.fromkeys(("signal.medfilt", "signal.medfilt2d"), medians),
    "signal.order_filter": orders,
    "signal.wiener": noisy,
    "signal.coherence": coherent,
    "signal.hilbert2": planes,
    "signal.oaconvolve": products,
}


def main(arguments: list[str]) -> int:
    jax.config.update("jax_enable_x64", "--x32" not in arguments)
    warnings.simplefilter("ignore")
    counts = [int(each) for each in arguments if each.isdigit()]
    names = [each for each in arguments if not each.isdigit() and not each.startswith("-")]
    found: Counter[str] = Counter()
    for name, generate in GENERATORS.items():
        if names and not any(each in name for each in names):
            continue
        for seed in range(counts[0] if counts else 100):
            args, settings = generate(np.random.default_rng(seed))
            try:
                check(name, *args, **settings)
            except AssertionError as error:
                found["different"] += 1
                print(name, seed, str(error).strip()[:200], flush=True)  # noqa: T201
            found["compared"] += 1
    print(dict(found))  # noqa: T201
    return 1 if found["different"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
