"""Functions of `scipy.ndimage`, each as one plan: why not, or what to compute.

A plan takes the parameters of SciPy's function. It returns the reason for which SciPy should run
the call, or a callable that asks OpenCV.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import cv2
import numpy as np

from spatch_core import BackendImplementation

from ._image import FLOATS, ORDERED, deliver, pair, run, why_not

backend = BackendImplementation("opencv")
Plan: TypeAlias = "Callable[[], Any] | str"


def implements(name: str) -> Callable[[Callable[..., Plan]], Any]:
    """Return a decorator for the plan of a function of `scipy_dispatch.ndimage`."""
    return backend.plans(f"scipy_dispatch.ndimage:{name}")


# --- means of neighbours -----------------------------------------------------------------


@implements("gaussian_filter")
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Plan:
    """Within 2e-6 of SciPy's values for float32, and 1e-14 for float64."""
    reason = why_not(input, output, mode, cval, FLOATS, order=order, axes=axes)
    sigmas, radii = pair(sigma), pair(radius)
    if reason or sigmas is None or radii is None:
        return reason or f"sigma={sigma!r} or radius={radius!r} is not for two axes"
    kernels = []
    for deviation, reach in zip(sigmas, radii, strict=True):
        reach = int(truncate * deviation + 0.5) if reach is None else reach
        if not (isinstance(reach, int) and reach >= 0 and deviation >= 0):
            return "SciPy is to report a radius or a deviation"
        if deviation <= 1e-15:  # SciPy leaves the axis as it is
            deviation, reach = 1.0, 0
        weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
        kernels.append(weights / weights.sum())
    down, across = kernels

    def compute() -> Any:
        def operation(each: Any, border: int) -> Any:
            return cv2.sepFilter2D(each, -1, across, down, borderType=border)

        margin = len(down) // 2, len(across) // 2
        return deliver(run(operation, input, margin, mode, cval), output)

    return compute


@implements("uniform_filter")
def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Plan:
    """Within 2e-6 of SciPy's values for float32, and 1e-12 for float64."""
    reason = why_not(input, output, mode, cval, FLOATS, origin=origin, axes=axes)
    sizes = reason or odd_sizes(size)
    if isinstance(sizes, str):
        return sizes

    def compute() -> Any:
        def operation(each: Any, border: int) -> Any:
            return cv2.blur(each, sizes[::-1], borderType=border)

        margin = sizes[0] // 2, sizes[1] // 2
        return deliver(run(operation, input, margin, mode, cval), output)

    return compute


# --- order of neighbours: exactly SciPy's values -----------------------------------------


@implements("median_filter")
def median_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Plan:
    """For squares of 3 or 5 pixels, or of up to 255 for uint8."""
    dtypes = ("uint8", "uint16", "float32")
    neutral = {"footprint": footprint, "origin": origin, "axes": axes}
    reason = why_not(input, output, mode, cval, dtypes, **neutral)
    sizes = reason or odd_sizes(size)
    if isinstance(sizes, str):
        return sizes
    side = sizes[0]
    if sizes != (side, side) or not 3 <= side <= (255 if input.dtype == np.uint8 else 5):
        return f"OpenCV has no median of {sizes} pixels for {input.dtype}"

    def compute() -> Any:
        def operation(each: Any, border: int) -> Any:
            return cv2.medianBlur(each, side)

        margin, own = (side // 2, side // 2), (cv2.BORDER_REPLICATE,)
        return deliver(run(operation, input, margin, mode, cval, own), output)

    return compute


Morph: TypeAlias = Callable[[Any], Any]
"""An erosion or a dilation of an image."""


def opening(erode: Morph, dilate: Morph, image: Any) -> Any:
    return dilate(erode(image))


def closing(erode: Morph, dilate: Morph, image: Any) -> Any:
    return erode(dilate(image))


GREY: dict[str, Callable[[Morph, Morph, Any], Any]] = {
    "grey_erosion": lambda erode, dilate, image: erode(image),
    "grey_dilation": lambda erode, dilate, image: dilate(image),
    "grey_opening": opening,
    "grey_closing": closing,
    "white_tophat": lambda erode, dilate, image: image - opening(erode, dilate, image),
    "black_tophat": lambda erode, dilate, image: closing(erode, dilate, image) - image,
    "morphological_gradient": lambda erode, dilate, image: dilate(image) - erode(image),
}
"""Functions with the same parameters, made of the two operations that OpenCV has."""


def plan_of(compose: Callable[[Morph, Morph, Any], Any]) -> Callable[..., Plan]:
    """Return the plan of one of these functions."""

    def plan(
        input: Any,
        size: Any = None,
        footprint: Any = None,
        structure: Any = None,
        output: Any = None,
        mode: Any = "reflect",
        cval: Any = 0.0,
        origin: Any = 0,
        *,
        axes: Any = None,
    ) -> Plan:
        neutral = {"structure": structure, "origin": origin, "axes": axes}
        reason = why_not(input, output, mode, cval, ORDERED, **neutral)
        pixels = reason or neighbours(size, footprint)
        if isinstance(pixels, str):
            return pixels
        erode = morph(cv2.erode, pixels, mode, cval)
        dilate = morph(cv2.dilate, pixels[::-1, ::-1], mode, cval)  # SciPy mirrors it
        return lambda: deliver(compose(erode, dilate, input), output)

    return plan


backend.plans_each(
    "scipy_dispatch.ndimage", {name: plan_of(each) for name, each in GREY.items()}, globals()
)


@implements("minimum_filter")
def minimum_filter(
    input: Any, size: Any = None, footprint: Any = None, *rest: Any, **named: Any
) -> Plan:
    return extremum(cv2.erode, input, size, footprint, *rest, **named)


@implements("maximum_filter")
def maximum_filter(
    input: Any, size: Any = None, footprint: Any = None, *rest: Any, **named: Any
) -> Plan:
    return extremum(cv2.dilate, input, size, footprint, *rest, **named)


def extremum(
    function: Any,
    input: Any,
    size: Any,
    footprint: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Plan:
    """Plan one of OpenCV's operations as it is."""
    reason = why_not(input, output, mode, cval, ORDERED, origin=origin, axes=axes)
    pixels = reason or neighbours(size, footprint)
    if isinstance(pixels, str):
        return pixels
    return lambda: deliver(morph(function, pixels, mode, cval)(input), output)


def morph(function: Any, pixels: Any, mode: str, cval: float) -> Morph:
    """Return an operation of OpenCV with SciPy's borders."""

    def operation(image: Any, border: int) -> Any:
        return function(image, pixels, borderType=border)

    margin = pixels.shape[0] // 2, pixels.shape[1] // 2
    return lambda image: run(operation, image, margin, mode, cval)


def neighbours(size: Any, footprint: Any) -> Any:
    """Return which pixels around each one count, as an image of bytes; or why not."""
    if footprint is None:
        sizes = odd_sizes(size)
        return sizes if isinstance(sizes, str) else np.ones(sizes, np.uint8)
    pixels = np.asarray(footprint, bool)
    if size is not None or pixels.ndim != 2 or not pixels.any():
        return "SciPy is to report the footprint"
    centred = all(length % 2 for length in pixels.shape)
    return pixels.astype(np.uint8) if centred else "the footprint has no centre"


def odd_sizes(size: Any) -> tuple[int, int] | str:
    """Return the sizes for both axes, or why OpenCV does not take them."""
    sizes = pair(size)
    if sizes is None or not all(isinstance(each, (int, np.integer)) for each in sizes):
        return f"size={size!r} is not whole, for two axes"
    if not all(each > 0 and each % 2 for each in sizes):
        return f"a window of {size} pixels has no centre"
    return int(sizes[0]), int(sizes[1])


# --- enlarging and reducing --------------------------------------------------------------


@implements("zoom")
def zoom(
    input: Any,
    zoom: Any,
    output: Any = None,
    order: int = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Plan:
    """With ``order=1, grid_mode=True, mode="nearest"``, within 2e-6 of SciPy's values."""
    reason = why_not(input, None, mode, cval, FLOATS)
    factors = pair(zoom)
    if reason or factors is None:
        return reason or f"zoom={zoom!r} is not for two axes"
    # At the border both continue with the outermost pixel.
    if output is not None:
        return "OpenCV makes its own array"
    if order != 1 or not grid_mode or mode not in ("nearest", "reflect", "grid-mirror"):
        return "OpenCV resizes as order=1, grid_mode=True, mode='nearest' does"
    rows, columns = (round(n * factor) for n, factor in zip(input.shape, factors, strict=True))
    if rows < 1 or columns < 1:
        return "nothing is left of the image"
    return lambda: cv2.resize(input, (columns, rows), interpolation=cv2.INTER_LINEAR)
