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
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from comparison import MODES, check, has_64_bits
from scipy import signal

Random = np.random.Generator
Arguments = tuple[tuple[Any, ...], dict[str, Any]]

# Only a few shapes, because everything is compiled for each.
SHAPES = ((7,), (5, 6), (1, 6), (3, 4, 5), (8, 3))
BLOBS = ((12,), (9, 9), (4, 5, 6), (20, 21))
LINES = ((60,), (2, 65), (61, 3))
SIGNALS = ((25,), (2, 25), (25, 2))


def some(r: Random, *choices: Any) -> Any:
    return choices[r.integers(len(choices))]


def real() -> Any:
    return np.float64 if has_64_bits() else np.float32


def array(r: Random, shapes: Any, kinds: str = "fib") -> np.ndarray:
    """Return an array of doubles, singles, integers, booleans, complex numbers, or with gaps."""
    x = r.uniform(-20, 20, shapes if isinstance(shapes[0], int) else some(r, *shapes))
    kind = some(r, *kinds)
    if kind == "g":
        x.flat[r.integers(x.size)] = some(r, np.nan, np.inf, -np.inf)
    if kind == "i":
        x = np.abs(x) if r.random() < 0.3 else x
        return x.astype(np.uint8 if (x >= 0).all() else some(r, np.int16, np.int32))
    if kind == "c":
        return (x + 1j * r.normal(size=x.shape)).astype(np.result_type(real(), np.complex64))
    return x > 0 if kind == "b" else x.astype(np.float32 if kind == "s" else real())


def axes(r: Random, ndim: int) -> tuple[dict[str, Any], int]:
    if r.random() < 0.7:
        return {}, ndim
    count = int(r.integers(1, ndim + 1))
    signs = r.integers(0, 2, count) * ndim
    return {"axes": tuple(map(int, r.permutation(ndim)[:count] - signs))}, count


def origins(r: Random, sizes: Any) -> list[int]:
    return [int(r.integers(-(n // 2), (n - 1) // 2 + 1)) for n in sizes]


def beyond(r: Random, x: np.ndarray, count: int = 1) -> dict[str, Any]:
    """Return the modes and the value beyond the ends, which an array of integers can hold."""
    modes = [some(r, *MODES) for _ in range(count)]
    cvals = {"b": (0, 1), "u": (0, 7)}.get(x.dtype.kind, (0.0, -2, 7))
    return {"mode": modes if count > 1 else modes[0], "cval": some(r, *cvals)}


def output(r: Random, x: np.ndarray) -> dict[str, Any]:
    chosen = some(r, None, None, np.float32, np.int16, "int32")
    return {"output": chosen} if x.dtype.kind in "iu" else {}


def along_line(r: Random) -> Arguments:
    x, size = array(r, SHAPES, "fgibc"), int(r.integers(1, 5))
    weights = r.integers(-3, 4, size) if r.random() < 0.5 else np.arange(size) / 7
    axis = int(r.integers(-x.ndim, x.ndim))
    return (x, weights, axis), beyond(r, x) | {"origin": some(r, 0, *origins(r, [size]))}


def in_window(r: Random) -> Arguments:
    x = array(r, SHAPES, "fgib")
    settings, count = axes(r, x.ndim)
    sizes = some(r, r.integers(1, 5, count), 2 * r.integers(0, 3, count) + 1)
    settings |= beyond(r, x) | output(r, x)
    return (x, r.integers(-3, 4, sizes)), {"origin": 0, **settings}


def gaussian(r: Random) -> Arguments:
    x = array(r, SHAPES, "fgic")
    settings, count = axes(r, x.ndim)
    each = {
        "sigma": [some(r, 0, 0.5, 1.1) for _ in range(count)],
        "order": r.integers(0, 4, count).tolist(),
        "radius": [some(r, None, 0, 2) for _ in range(count)],
    }
    return (x,), settings | beyond(r, x, count) | each | {"truncate": some(r, 1.0, 4.0)}


def smooth(r: Random) -> Arguments:
    x = array(r, SHAPES, "fgi")
    return (x, some(r, 0.5, 1.1)), beyond(r, x)


def gaussian_line(r: Random) -> Arguments:
    args, settings = smooth(r)
    return args, settings | {"order": int(r.integers(0, 4)), "axis": some(r, 0, -1)}


def derivative(r: Random) -> Arguments:
    x = array(r, SHAPES, "fgic")
    axis = int(r.integers(-x.ndim, x.ndim))
    return (x, axis), beyond(r, x, x.ndim) | output(r, x)


def laplacian(r: Random) -> Arguments:
    x = array(r, SHAPES, "fgi")
    settings, count = axes(r, x.ndim)
    return (x,), settings | beyond(r, x, count) | output(r, x)


def size_along(r: Random) -> Arguments:
    x, size = array(r, SHAPES), int(r.integers(1, 5))
    axis = int(r.integers(-x.ndim, x.ndim))
    return (x, size, axis), beyond(r, x) | {"origin": some(r, 0, *origins(r, [size]))}


def sizes(r: Random) -> Arguments:
    x = array(r, SHAPES)
    settings, count = axes(r, x.ndim)
    lengths = r.integers(1, 5, count).tolist()
    settings |= beyond(r, x, count) | output(r, x) | {"origin": origins(r, lengths)}
    return (x,), settings | {"size": lengths}


def footprint(r: Random) -> Arguments:
    # In one dimension, SciPy handles holes differently and reads beyond lines shorter than a
    # window.
    x = array(r, SHAPES[1:])
    settings, count = axes(r, x.ndim)
    settings |= window(r, count, "footprint")
    return (x,), settings | {"mode": some(r, *MODES), "cval": 0}


def ranked(r: Random) -> Arguments:
    (x,), settings = footprint(r)
    count = int(settings["footprint"].sum())
    return (x, int(r.integers(-count, count))), settings


def percentile(r: Random) -> Arguments:
    (x,), settings = footprint(r)
    return (x, some(r, 0, 30, 100, -20)), settings


def window(r: Random, count: int, name: str) -> dict[str, Any]:
    shape = tuple(map(int, r.integers(1, 4, count)))
    chosen = r.random(shape) > 0.4
    chosen.flat[0] = True
    return {name: chosen, **({"origin": origins(r, shape)} if r.random() < 0.4 else {})}


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
    return _labelled(r, array(r, SHAPES, "fsib"))


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


NORMS = (None, "backward", "ortho", "forward")


def fourier(kinds: str, form: str) -> Callable[[Random], Arguments]:
    """Return a generator for a transform: along one axis, two (2) or several (n)."""

    def generate(r: Random) -> Arguments:
        x, norm = array(r, ((3, 4, 2, 5), (6, 5)), kinds), some(r, *NORMS)
        if not form:
            axis = int(r.integers(-x.ndim, x.ndim))
            return (x, some(r, None, 2, 7), axis, norm), {}
        count = 2 if form == "2" else int(r.integers(1, x.ndim + 1))
        chosen = r.permutation(x.ndim)[:count].tolist()
        # Of halves of spectra, releases of SciPy differ for the last length -1.
        lengths = [some(r, -1, 1, 3, 6) for _ in chosen[1:]] + [6]
        return (x, some(r, None, lengths), chosen, norm), {}

    return generate


def cosine(form: str) -> Callable[[Random], Arguments]:
    def generate(r: Random) -> Arguments:
        x = array(r, (3, 4, 2), "fic")
        chosen = None if np.iscomplexobj(x) else some(r, None, True, False)
        type, norm, settings = int(r.integers(1, 5)), some(r, *NORMS), {"orthogonalize": chosen}
        if form:
            return (x, type, (3, 5), r.permutation(3)[:2].tolist(), norm), settings
        return (x, type, some(r, None, 3, 6), int(r.integers(-3, 3)), norm), settings

    return generate


def moved(r: Random) -> Arguments:
    return (array(r, SHAPES, "fibc"),), {"axes": some(r, None, 0, (-1,))}


FACTORS = ((4, 5), (2, 3), (1, 4), (6, 1))


def convolution(**settings: tuple[Any, ...]) -> Callable[[Random], Arguments]:
    def generate(r: Random) -> Arguments:
        first, second = array(r, FACTORS, "fsic"), array(r, FACTORS, "fsic")
        chosen = {name: some(r, *values) for name, values in settings.items()}
        return (first, second), chosen | {"mode": some(r, "full", "same", "valid")}

    return generate


def images(r: Random) -> Arguments:
    first, second = array(r, FACTORS, "fsic"), array(r, FACTORS, "fsic")
    fits = all(k <= n for n, k in zip(first.shape, second.shape, strict=True))
    settings = {"boundary": some(r, "fill", "wrap", "symm") if fits else "fill", "fillvalue": 1}
    return (first, second), settings | {"mode": some(r, "full", "same", "valid")}


def trend(r: Random) -> Arguments:
    axis, breaks = some(r, (1, 0), (1, [3, 7]), (-2, 4), (0, 2), (-1, 1))
    return (array(r, (4, 9, 2), "fsic"), axis, some(r, "linear", "constant"), breaks), {}


def segments(r: Random, x: np.ndarray) -> dict[str, Any]:
    window = np.hanning(10)[1:9].astype(x.dtype) if x.dtype.kind == "f" else "hann"
    return {
        "fs": some(r, 1.0, 4),
        "window": some(r, "hann", ("kaiser", 2.0), window),
        "nperseg": 8,
        "noverlap": some(r, None, 0, 3),
        "nfft": some(r, None, 11),
        "detrend": some(r, False, "constant", "linear"),
        "return_onesided": bool(r.random() < 0.5),
        "axis": int(np.argmax(x.shape)),
    }


def spectrum(count: int = 1, **more: tuple[Any, ...]) -> Callable[[Random], Arguments]:
    def generate(r: Random) -> Arguments:
        x = array(r, SIGNALS, "fsi")
        args = (x, *(array(r, x.shape, "fsi") for _ in range(count - 1)))
        settings = segments(r, x) | {name: some(r, *values) for name, values in more.items()}
        if len({each.dtype for each in args}) > 1:
            settings["window"] = "hann"
        if "boundary" in settings and x.dtype.kind in "iu":  # SciPy's differences overflow
            settings["boundary"] = "zeros"
        return args, settings

    return generate


def periods(r: Random) -> Arguments:
    args, settings = spectrum(scaling=DENSITIES)(r)
    del settings["nperseg"], settings["noverlap"]
    return args, settings | {"window": some(r, "hann", None)}


def coherent(r: Random) -> Arguments:
    settings = {"nperseg": some(r, 16, 20), "window": some(r, "hann", ("kaiser", 3.0))}
    x, y = (r.normal(size=(2, 80)).astype(real()) for _ in range(2))
    return (x, y), {**settings, "detrend": some(r, "constant", "linear", False)}


def inverse(r: Random) -> Arguments:
    """The windows have a sum other than 0 everywhere."""
    onesided, order = bool(r.random() < 0.5), r.permutation(3).tolist()
    z = array(r, (2, 5 if onesided else 8, 6), "c").transpose(order)
    settings = {
        "fs": some(r, 1.0, 4),
        "window": some(r, "boxcar", "hamming"),
        "noverlap": some(r, None, 5),
        "nfft": some(r, None, 10),
        "boundary": bool(r.random() < 0.5),
        "scaling": some(r, "spectrum", "psd"),
        "freq_axis": order.index(1) - some(r, 0, 3),
    }
    return (z,), settings | {"nperseg": 8, "input_onesided": onesided, "time_axis": order.index(2)}


def longest(x: np.ndarray) -> dict[str, int]:
    return {"axis": int(np.argmax(x.shape))}


def analytic(r: Random) -> Arguments:
    x = array(r, LINES, "fsi")
    return (x,), {"N": some(r, None, 30, 71), **longest(x)}


def planes(r: Random) -> Arguments:
    return (array(r, SHAPES[1:], "fsi"), some(r, None, 6, (4, 9))), {}


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


DENSITIES = ("density", "spectrum")
AVERAGES = {"scaling": DENSITIES, "average": ("mean", "median")}
ENDS = {"boundary": (None, "zeros", "even", "odd", "constant"), "padded": (True, False)}

TABLE: dict[str, dict[str, Callable[[Random], Arguments]]] = {
    "ndimage": {
        "correlate1d convolve1d": along_line,
        "correlate convolve": in_window,
        "gaussian_filter": gaussian,
        "gaussian_filter1d": gaussian_line,
        "gaussian_laplace gaussian_gradient_magnitude": smooth,
        "sobel prewitt": derivative,
        "laplace": laplacian,
        "uniform_filter1d minimum_filter1d maximum_filter1d": size_along,
        "uniform_filter minimum_filter maximum_filter": sizes,
        "median_filter": footprint,
        "rank_filter": ranked,
        "percentile_filter": percentile,
        "grey_erosion grey_dilation grey_opening grey_closing": grey,
        "morphological_gradient morphological_laplace white_tophat black_tophat": grey,
        "binary_erosion binary_dilation binary_opening binary_closing": binary,
        "binary_propagation": propagation,
        "binary_fill_holes label": blobs,
        "binary_hit_or_miss": hit,
        "map_coordinates": coordinates,
        "shift": shift,
        "zoom": zoom,
        "affine_transform": affine,
        "rotate": rotate,
        "spline_filter spline_filter1d": coefficients,
        "sum sum_labels mean variance standard_deviation minimum maximum": statistic,
        "extrema center_of_mass minimum_position maximum_position": point,
        "distance_transform_edt": distances,
    },
    "fft": {
        **{
            " ".join(name + form for name in names.split()): fourier(kinds, form)
            for names, kinds in (("fft ifft irfft hfft", "fsic"), ("rfft ihfft", "fsi"))
            for form in ("", "2", "n")
        },
        "dct idct dst idst": cosine(""),
        "dctn idctn dstn idstn": cosine("n"),
        "fftshift ifftshift": moved,
    },
    "signal": {
        "convolve correlate": convolution(method=("auto", "direct", "fft")),
        "fftconvolve oaconvolve": convolution(axes=(None, 0, (1,), (-1, 0))),
        "convolve2d correlate2d": images,
        "detrend": trend,
        "welch": spectrum(**AVERAGES),
        "csd": spectrum(2, **AVERAGES),
        "stft": spectrum(**ENDS, scaling=("spectrum", "psd")),
        "spectrogram": spectrum(scaling=DENSITIES, mode=("psd", "complex", "magnitude")),
        "periodogram": periods,
        "coherence": coherent,
        "istft": inverse,
        "hilbert": analytic,
        "hilbert2": planes,
        "savgol_filter": savgol,
        "upfirdn": steps,
        "resample_poly": polyphase,
        "resample": resampled,
        "decimate": decimated,
        "lfilter": filtered,
        "filtfilt": both_ways,
        "sosfilt": sections,
        "sosfiltfilt": sections_both_ways,
        "medfilt medfilt2d": medians,
        "order_filter": orders,
        "wiener": noisy,
    },
}
GENERATORS = {
    f"{module}.{name}": generate
    for module, rows in TABLE.items()
    for names, generate in rows.items()
    for name in names.split()
}


def arguments(name: str, seed: int) -> Arguments:
    return GENERATORS[name](np.random.default_rng([seed, *name.encode()]))


def main(options: list[str]) -> int:
    jax.config.update("jax_enable_x64", "--x32" not in options)
    warnings.simplefilter("ignore")
    counts = [int(each) for each in options if each.isdigit()]
    names = [each for each in options if not each.isdigit() and not each.startswith("-")]
    found: Counter[str] = Counter()
    for name in GENERATORS:
        if names and not any(each in name for each in names):
            continue
        for seed in range(counts[0] if counts else 100):
            args, settings = arguments(name, seed)
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
