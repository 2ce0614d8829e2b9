"""Functions of `scipy.ndimage`, with the parameters that OpenCV serves.

Each returns what OpenCV is to do with the image, or raises `Deferred` with the reason
for which SciPy should run the call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import cv2
import numpy as np

from scipy_dispatch.calls import Deferred
from scipy_dispatch.planning import PlannedBackend

from ._image import Operation, bordered, bound, odd_sizes, pair

backend = PlannedBackend("opencv")
FLOATS = ("float32", "float64")
ORDERED = ("uint8", "uint16", "int16", *FLOATS)


def implements(name: str, dtypes: tuple[str, ...]) -> Callable[[Callable[..., Operation]], Any]:
    """Return a decorator that registers a function for images of some data types."""
    return lambda make: backend.plans(f"scipy_dispatch.ndimage:{name}")(bound(name, dtypes, make))


# --- means of neighbours -----------------------------------------------------------------


@implements("gaussian_filter", FLOATS)
def gaussian_filter(sigma: Any, mode: str, cval: float, truncate: float, radius: Any) -> Operation:
    """Within 2e-6 of SciPy's values for float32, and 1e-14 for float64."""
    kernels = []
    for deviation, reach in zip(pair(sigma), pair(radius), strict=True):
        reach = int(truncate * deviation + 0.5) if reach is None else reach
        if not (isinstance(reach, int) and reach >= 0 and deviation >= 0):
            raise Deferred(f"sigma={deviation}, radius={reach} is left to SciPy")
        if deviation <= 1e-15:  # SciPy leaves the axis as it is
            deviation, reach = 1.0, 0
        weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
        kernels.append(weights / weights.sum())
    down, across = kernels

    blur = partial(cv2.sepFilter2D, ddepth=-1, kernelX=across, kernelY=down)
    return bordered(blur, (len(down), len(across)), mode, cval)


@implements("uniform_filter", FLOATS)
def uniform_filter(size: Any, mode: str, cval: float) -> Operation:
    """Within 2e-6 of SciPy's values for float32, and 1e-12 for float64."""
    rows, columns = odd_sizes(size)

    return bordered(partial(cv2.blur, ksize=(columns, rows)), (rows, columns), mode, cval)


# --- order of neighbours: exactly SciPy's values -----------------------------------------


@implements("median_filter", ("uint8", "uint16", "float32"))
def median_filter(input: Any, size: Any, mode: str, cval: float) -> Operation:
    """For squares of 3 or 5 pixels, or of up to 255 for uint8."""
    side, columns = odd_sizes(size)
    if side != columns or not 3 <= side <= (255 if input.dtype == np.uint8 else 5):
        raise Deferred(f"OpenCV has no median of {size} pixels for {input.dtype}")

    def median(image: Any, borderType: int) -> Any:  # noqa: N803 - OpenCV's name
        return cv2.medianBlur(image, side)

    return bordered(median, (side, side), mode, cval, own_borders=(cv2.BORDER_REPLICATE,))


def neighbours(size: Any, footprint: Any) -> Any:
    """Return which pixels around each one count, as an image of bytes."""
    if footprint is None:
        return np.ones(odd_sizes(size), np.uint8)
    pixels = np.asarray(footprint, bool)
    if size is not None or pixels.ndim != 2 or not pixels.any():
        raise Deferred("SciPy has an error or a warning for this footprint")
    odd_sizes(pixels.shape)
    return pixels.astype(np.uint8)


def opening(erode: Operation, dilate: Operation, image: Any) -> Any:
    return dilate(erode(image))


def closing(erode: Operation, dilate: Operation, image: Any) -> Any:
    return erode(dilate(image))


COMPOSED: dict[str, Callable[[Operation, Operation, Any], Any]] = {
    "minimum_filter": lambda erode, dilate, image: erode(image),
    "maximum_filter": lambda erode, dilate, image: dilate(image),
    "grey_erosion": lambda erode, dilate, image: erode(image),
    "grey_dilation": lambda erode, dilate, image: dilate(image),
    "grey_opening": opening,
    "grey_closing": closing,
    "white_tophat": lambda erode, dilate, image: image - opening(erode, dilate, image),
    "black_tophat": lambda erode, dilate, image: closing(erode, dilate, image) - image,
    "morphological_gradient": lambda erode, dilate, image: dilate(image) - erode(image),
}
"""Functions with the same parameters, made of the two operations that OpenCV has."""


def composed(name: str) -> Callable[..., Operation]:
    """Return one of these functions with the parameters that OpenCV serves."""
    compose = COMPOSED[name]

    def make(size: Any, footprint: Any, mode: str, cval: float) -> Operation:
        pixels = neighbours(size, footprint)
        mirrored = pixels if name == "maximum_filter" else pixels[::-1, ::-1]

        erode = bordered(partial(cv2.erode, kernel=pixels), pixels.shape, mode, cval)
        dilate = bordered(partial(cv2.dilate, kernel=mirrored), pixels.shape, mode, cval)
        return lambda image: compose(erode, dilate, image)

    return make


plans = {name: bound(name, ORDERED, composed(name)) for name in COMPOSED}
backend.plans_each("scipy_dispatch.ndimage", plans, globals())


# --- enlarging and reducing --------------------------------------------------------------


@implements("zoom", FLOATS)
def zoom(
    input: Any, zoom: Any, output: Any, order: int, mode: str, prefilter: bool, grid_mode: bool
) -> Operation:
    """With ``order=1, grid_mode=True, mode="nearest"``, within 2e-6 of SciPy's values."""
    rows, columns = (round(n * by) for n, by in zip(input.shape, pair(zoom), strict=True))
    if rows < 1 or columns < 1:
        raise Deferred("nothing is left of the image")
    # At the border both continue with the outermost pixel.
    if order != 1 or not grid_mode or mode not in ("nearest", "reflect", "grid-mirror"):
        raise Deferred("OpenCV resizes as order=1, grid_mode=True, mode='nearest' does")
    if output is not None:
        raise Deferred("OpenCV makes its own array")
    return lambda image: cv2.resize(image, (columns, rows), interpolation=cv2.INTER_LINEAR)
