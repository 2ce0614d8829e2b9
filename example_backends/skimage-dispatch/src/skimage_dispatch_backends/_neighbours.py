"""How far scikit-image's functions read: all that both backends know about them.

A function that is listed computes each value from neighbours within a known distance, and keeps
the shape of its first argument, the image. Its entry takes the arguments of a call by name,
defaults included, and returns for each axis of the image that distance, or None where whole lines
are needed; or a text, the reason to leave the call to scikit-image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from skimage.filters import gabor_kernel

Arguments: TypeAlias = "Mapping[str, Any]"
Radii: TypeAlias = "Sequence[int | None] | str"


@dataclass(frozen=True)
class Neighbours:
    """What is known about a function.

    Attributes
    ----------
    radii : callable
        Takes the image and the arguments; returns how far the function reads.
    results : callable
        Takes the number of dimensions of the image; returns how many arrays are the result, or 0
        if it is no list or tuple.
    runs : bool
        Whether a NaN may change the values after it to the end of the line.
    rounds : bool
        Whether the last bits depend on where in memory an element is.
    """

    radii: Callable[[Any, Arguments], Radii]
    results: Callable[[int], int] = lambda ndim: 0
    runs: bool = False
    rounds: bool = False


def fixed(radius: int) -> Callable[[Any, Arguments], Radii]:
    """Return the reach of a kernel of a fixed size."""
    return lambda image, given: [radius] * image.ndim


def kernel(image: Any, given: Arguments) -> Radii:
    """Return the reach of a kernel with `ksize` elements along each axis."""
    return [int(given["ksize"]) // 2] * image.ndim


def footprint(times: int = 1) -> Callable[[Any, Arguments], Radii]:
    """Return the reach of an array, or of a sequence of pairs of an array and a number."""

    def radii(image: Any, given: Arguments) -> Radii:
        if given.get("behavior", "ndimage") != "ndimage":
            return "behavior='rank' is for uint8 and counts up the whole image's values"
        pixels = given["footprint"]
        if pixels is None:
            return [times] * image.ndim
        pairs = pixels if isinstance(pixels, (tuple, list)) else [(pixels, 1)]
        shapes = [number * (np.array(np.shape(array)) // 2) for array, number in pairs]
        return [times * int(radius) for radius in np.sum(shapes, axis=0)]

    return radii


def rank(image: Any, given: Arguments) -> Radii:
    """Return the reach of the footprint of a filter of `skimage.filters.rank`."""
    if image.dtype != np.uint8:
        return "the number of grey levels depends on the whole image, unless it is uint8"
    shift = max(abs(given.get(f"shift_{axis}", 0)) for axis in "xyz")
    if given["footprint"] is None:
        return [1 + shift] * image.ndim
    return [length // 2 + shift for length in np.shape(given["footprint"])]


def gaussian(*names: str, more: int = 0, factor: float = 1.0) -> Callable[[Any, Arguments], Radii]:
    """Return the reach of Gaussian filters with these standard deviations, and `more`."""

    def radii(image: Any, given: Arguments) -> Radii:
        channel = given.get("channel_axis")
        ndim = image.ndim - (channel is not None)
        truncate = given.get("truncate", 4.0)
        widest = np.max([np.broadcast_to(given[each], ndim) for each in names], axis=0)
        found: list[int | None] = [int(truncate * factor * each + 0.5) + more for each in widest]
        if channel is not None:
            found.insert(channel % image.ndim, None)
        return found

    return radii


def tensor(image: Any, given: Arguments) -> Radii:
    """Return the reach of Gaussian filters of products of derivatives."""
    if 1 in image.shape:
        return "scikit-image removes axes of one element"
    return gaussian("sigma", more=1)(image, given)


def two_gaussians(image: Any, given: Arguments) -> Radii:
    """Return the reach of the wider Gaussian, by default 1.6 times as wide as the other."""
    if given["high_sigma"] is None:
        return gaussian("low_sigma", factor=1.6)(image, given)
    return gaussian("low_sigma", "high_sigma")(image, given)


def block(image: Any, given: Arguments) -> Radii:
    """Return the reach of a local threshold."""
    if given["method"] == "mean":
        return "a running mean rounds differently where it starts elsewhere"
    if given["method"] == "generic":
        return "the caller's function would run in several threads or processes"
    sizes = np.broadcast_to(given["block_size"], image.ndim)
    if given["method"] == "median":
        return [int(size) // 2 for size in sizes]
    sigma = (sizes - 1) / 6 if given["param"] is None else given["param"]
    return gaussian("sigma")(image, {"sigma": sigma})


def gabor(image: Any, given: Arguments) -> Radii:
    """Return the reach of the kernel, from the parameters that it has in common."""
    names = ("frequency", "theta", "bandwidth", "sigma_x", "sigma_y", "n_stds", "offset")
    return [length // 2 for length in gabor_kernel(**{name: given[name] for name in names}).shape]


def pixels(image: Any, given: Arguments) -> Radii:
    """Return the reach of a function of one pixel, which needs all of its channels."""
    found: list[int | None] = [0] * image.ndim
    found[given["channel_axis"]] = None
    return found


_EDGES = (
    "prewitt prewitt_h prewitt_v roberts roberts_neg_diag roberts_pos_diag scharr scharr_h "
    "scharr_v sobel sobel_h sobel_v"
)
_RANKS = (
    "autolevel autolevel_percentile enhance_contrast enhance_contrast_percentile entropy equalize "
    "geometric_mean gradient gradient_percentile majority maximum mean mean_bilateral "
    "mean_percentile median minimum modal noise_filter otsu percentile pop pop_bilateral "
    "pop_percentile subtract_mean subtract_mean_percentile sum sum_bilateral sum_percentile "
    "threshold threshold_percentile"
)
_COLOURS = (
    "hed2rgb hsv2rgb lab2lch lab2rgb lab2xyz lch2lab luv2rgb luv2xyz rgb2hed rgb2hsv rgb2lab "
    "rgb2luv rgb2rgbcie rgb2xyz rgb2ycbcr rgb2ydbdr rgb2yiq rgb2ypbpr rgb2yuv rgbcie2rgb xyz2lab "
    "xyz2luv xyz2rgb ycbcr2rgb ydbdr2rgb yiq2rgb ypbpr2rgb yuv2rgb"
)

NEIGHBOURS: dict[str, Neighbours] = {
    **{f"color:{name}": Neighbours(pixels, rounds=True) for name in _COLOURS.split()},
    "feature:structure_tensor": Neighbours(tensor, results=lambda ndim: ndim * (ndim + 1) // 2),
    "filters:difference_of_gaussians": Neighbours(two_gaussians),
    **{f"filters:{name}": Neighbours(fixed(2)) for name in ("farid", "farid_h", "farid_v")},
    "filters:gabor": Neighbours(gabor, results=lambda ndim: 2),
    "filters:gaussian": Neighbours(gaussian("sigma")),
    "filters:laplace": Neighbours(kernel),
    "filters:median": Neighbours(footprint(), runs=True),
    "filters:threshold_local": Neighbours(block, runs=True),
    **{f"filters:{name}": Neighbours(fixed(1)) for name in _EDGES.split()},
    **{f"filters.rank:{name}": Neighbours(rank) for name in _RANKS.split()},
    "morphology:dilation": Neighbours(footprint(), runs=True),
    "morphology:erosion": Neighbours(footprint(), runs=True),
    **{
        f"morphology:{name}": Neighbours(footprint(times=2), runs=True)
        for name in ("black_tophat", "closing", "opening", "white_tophat")
    },
}
"""By the name of the function, with that of its module in scikit-image."""
