"""Filters of `scipy.ndimage`: weighted sums by convolutions, ranks and extremes of windows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from scipy_dispatch.calls import Deferred

from ._tensors import (
    FLOATS,
    ORDERED,
    as_numbers,
    axis_of,
    check,
    check_absent,
    check_border,
    check_output,
    delivered,
    each_axis,
    implement_each,
    padded,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy_dispatch.calls import BoundCall

    Computation = Callable[[], Tensor]

MOST_RANKED = 1024
"""The largest number of elements in a window that is sorted: each gets a copy of the image."""


def checked(call: BoundCall, dtypes: Any = FLOATS) -> Tensor:
    """Return the input; raise `Deferred` unless PyTorch has SciPy's result for these arguments."""
    x: Tensor = call["input"]
    check(x, "input", dtypes)
    if not x.numel():
        raise Deferred("the input is empty")
    check_border(x, call["mode"], call["cval"])
    check_output(x, call["output"])
    return x


def reach(size: Any, origin: Any) -> tuple[int, int]:
    """Return how many elements before and after each one a window has."""
    if not all(isinstance(each, (int, np.integer)) for each in (size, origin)):
        raise Deferred(f"size={size!r}, origin={origin!r} is an error in SciPy")
    before, after = size // 2 + origin, size - 1 - size // 2 - origin
    if size < 1 or before < 0 or after < 0:
        raise Deferred(f"a window of {size} elements with origin={origin} is an error in SciPy")
    return int(before), int(after)


def summed(x: Tensor, axis: int, weights: Any, mode: str, cval: float, origin: int = 0) -> Tensor:
    """Return the weighted sums along an axis."""
    kernel = torch.as_tensor(np.array(weights, float), dtype=x.dtype, device=x.device)
    before, after = reach(kernel.numel(), origin)
    lines = padded(x, axis, before, after, mode, cval).movedim(axis, -1)
    sums = functional.conv1d(lines.reshape(-1, 1, lines.shape[-1]), kernel[None, None])
    return sums.reshape(*lines.shape[:-1], -1).movedim(-1, axis).contiguous()


# --- weighted sums -----------------------------------------------------------------------


def mirrored(weights: Any, origin: int) -> tuple[Any, int]:
    """Return the weights of the correlation that is a convolution, and its origin."""
    return weights[::-1], -origin - (len(weights) % 2 == 0)


def along_axis(call: BoundCall, turns: bool) -> Computation:
    x = checked(call)
    numbers, origin = real_weights(call["weights"], 1), call["origin"]
    if turns:
        numbers, origin = mirrored(numbers, origin)
    reach(len(numbers), origin)
    place, border = axis_of(call["axis"], x.ndim), (call["mode"], call["cval"])
    return lambda: delivered(summed(x, place, numbers, *border, origin), call["output"])


def real_weights(weights: Any, ndim: int) -> np.ndarray[Any, Any]:
    numbers = as_numbers(weights, "weights")
    if numbers.ndim != ndim or not numbers.size or numbers.dtype.kind not in "biuf":
        raise Deferred("weights= is left to SciPy")
    return numbers


def along_all_axes(call: BoundCall, turns: bool) -> Computation:
    x, mode = checked(call), call["mode"]
    check_absent(axes=call["axes"])
    if not isinstance(mode, str) or not 1 <= x.ndim <= 3:
        raise Deferred("PyTorch convolves 1 to 3 dimensions, with one mode for all")
    numbers = real_weights(call["weights"], x.ndim)
    origins = [each for _, each in each_axis(x, None, call["origin"])]
    if turns:
        numbers = np.flip(numbers)
        lengths = zip(origins, numbers.shape, strict=True)
        origins = [-each - (length % 2 == 0) for each, length in lengths]
    reaches = list(map(reach, numbers.shape, origins))

    def compute() -> Tensor:
        kernel = torch.as_tensor(numbers.copy(), dtype=x.dtype, device=x.device)
        wide = x
        for axis, (before, after) in enumerate(reaches):
            wide = padded(wide, axis, before, after, mode, call["cval"])
        convolve = (functional.conv1d, functional.conv2d, functional.conv3d)[x.ndim - 1]
        return delivered(convolve(wide[None, None], kernel[None, None])[0, 0], call["output"])

    return compute


def gaussian_weights(sigma: float, order: int, radius: int) -> np.ndarray[Any, Any]:
    """Return a sampled Gaussian, normalized, or a derivative of it."""
    x = np.arange(-radius, radius + 1)
    bell = np.exp(-0.5 * (x / sigma) ** 2)
    factor = np.polynomial.Polynomial([1.0])
    for _ in range(order):
        factor = factor.deriv() - factor * np.polynomial.Polynomial([0.0, 1 / sigma**2])
    return np.asarray(factor(x) * bell / bell.sum())[::-1]


def gaussian(x: Tensor, steps: list[Any], cval: float, truncate: float) -> Tensor:
    for axis, sigma, order, mode, radius in steps:
        radius = int(truncate * float(sigma) + 0.5) if radius is None else int(radius)
        x = summed(x, axis, gaussian_weights(float(sigma), int(order), radius), mode, cval)
    return x


def gaussian_steps(x: Tensor, axes: Any, *values: Any) -> list[Any]:
    steps = [each for each in each_axis(x, axes, *values) if each[1] > 1e-15]
    for _, sigma, order, _, radius in steps:
        if order < 0 or order != int(order) or (radius is not None and radius < 0) or sigma < 0:
            raise Deferred(f"order={order!r}, radius={radius!r} is an error in SciPy")
    return steps


def gaussian_filter(call: BoundCall) -> Computation:
    """Smooth along all axes, or one."""
    x, is_line = checked(call), call["axis"] is not None
    axes = call["axis"] if is_line else call["axes"]
    settings = (call[each] for each in ("sigma", "order", "mode", "radius"))
    steps = gaussian_steps(x, axes, *settings)
    if is_line and not steps:
        raise Deferred(f"sigma={call['sigma']!r} is left to SciPy")
    border = call["cval"], call["truncate"]
    return lambda: delivered(gaussian(x, steps, *border) + 0, call["output"])


def uniform(x: Tensor, steps: list[Any], cval: float) -> Tensor:
    for axis, size, mode, origin in steps:
        x = summed(x, axis, np.full(size, 1 / size), mode, cval, origin)
    return x


def uniform_filter(call: BoundCall) -> Computation:
    x, axes = checked(call), call["axes"] if call["axis"] is None else call["axis"]
    steps = each_axis(x, axes, call["size"], call["mode"], call["origin"])
    for _, length, _, shift in steps:
        reach(length, shift)
    return lambda: delivered(uniform(x, steps, call["cval"]) + 0, call["output"])


def derivative(call: BoundCall, smoothing: tuple[int, int, int]) -> Computation:
    x, place = checked(call), axis_of(call["axis"], call["input"].ndim)
    modes = dict(each_axis(x, None, call["mode"]))

    def compute() -> Tensor:
        result = summed(x, place, (-1, 0, 1), modes[place], call["cval"])
        for each in range(x.ndim):
            if each != place:
                result = summed(result, each, smoothing, modes[each], call["cval"])
        return delivered(result, call["output"])

    return compute


def laplace(call: BoundCall) -> Computation:
    x, cval = checked(call), call["cval"]
    steps = each_axis(x, call["axes"], call["mode"])
    if not steps:
        raise Deferred("there are no axes")

    def compute() -> Tensor:
        parts = [summed(x, axis, (1, -2, 1), each, cval) for axis, each in steps]
        return delivered(torch.stack(parts).sum(0), call["output"])

    return compute


# --- order of the elements in a window: exactly SciPy's values -----------------------------


def window(x: Tensor, size: Any, footprint: Any, axes: Any) -> np.ndarray[Any, Any]:
    """Return which elements of a window count, with an axis for each of `x`."""
    if footprint is None:
        lengths = dict(each_axis(x, axes, size))
        if not all(isinstance(each, (int, np.integer)) and each > 0 for each in lengths.values()):
            raise Deferred(f"size={size!r} is an error in SciPy")
        return np.ones([lengths.get(axis, 1) for axis in range(x.ndim)], bool)
    counted = as_numbers(footprint, "footprint").astype(bool)
    if size is not None or axes is not None or counted.ndim != x.ndim or not counted.any():
        raise Deferred("footprint= is left to SciPy")
    return counted


def ordered(
    choose: Callable[[Tensor], Tensor], x: Any, counted: Any, mode: Any, cval: float, origin: Any
) -> Computation:
    """Plan the choice of one element of the window around each."""
    steps = each_axis(x, None, counted.shape, mode, origin)
    reaches = [(axis, *reach(size, shift), each) for axis, size, each, shift in steps]

    def compute() -> Tensor:
        windows = x
        for axis, before, after, each in reaches:
            windows = padded(windows, axis, before, after, each, cval)
        for axis, size in enumerate(counted.shape):
            windows = windows.unfold(axis, size, 1)
        places = torch.from_numpy(np.flatnonzero(counted)).to(x.device)
        return choose(windows.flatten(x.ndim).index_select(-1, places))

    return compute


def box(
    reduce: Callable[..., Tensor], x: Any, counted: Any, mode: Any, cval: float, origin: Any
) -> Computation:
    """Plan the extremes of full windows, axis by axis."""
    steps = each_axis(x, None, counted.shape, mode, origin)
    reaches = [(axis, size, *reach(size, shift), each) for axis, size, each, shift in steps]

    def compute() -> Tensor:
        found: Tensor = x
        for axis, size, before, after, each in reaches:
            found = reduce(padded(found, axis, before, after, each, cval).unfold(axis, size, 1), -1)
        return found

    return compute


def extremum(
    reduce: Callable[..., Tensor], x: Any, counted: Any, mode: Any, cval: float, origin: Any
) -> Computation:
    if counted.all():
        return box(reduce, x, counted, mode, cval, origin)
    if not isinstance(mode, str):
        raise Deferred("several modes for a footprint are an error in SciPy")
    return ordered(lambda windows: reduce(windows, -1), x, counted, mode, cval, origin)


def dilated(x: Any, counted: Any, mode: Any, cval: float, origin: Any) -> Computation:
    """Plan a dilation, whose window is mirrored."""
    shifts = [shift for _, shift in each_axis(x, None, origin)]
    pairs = zip(shifts, counted.shape, strict=True)
    shifts = [-shift - (length % 2 == 0) for shift, length in pairs]
    return extremum(torch.amax, x, np.flip(counted), mode, cval, shifts)


def extremes(call: BoundCall, largest: bool) -> Computation:
    """Plan the extremes of windows along all axes, or of one."""
    x = checked(call, ORDERED)
    origin, axis = call["origin"], call["axis"]
    reduce = torch.amax if largest else torch.amin
    if axis is not None:
        counted, origins = window(x, call["size"], None, axis), [0] * x.ndim
        origins[axis_of(axis, x.ndim)] = origin
        compute = box(reduce, x, counted, call["mode"], call["cval"], origins)
    else:
        if call["axes"] is not None and np.any(origin):
            raise Deferred("origin= beside axes=")
        counted = window(x, call["size"], call["footprint"], call["axes"])
        compute = extremum(reduce, x, counted, call["mode"], call["cval"], origin)
    return lambda: delivered(compute(), call["output"])


def grey(call: BoundCall, dilates: bool) -> Computation:
    x = checked(call, ORDERED)
    check_absent(structure=call["structure"], axes=call["axes"])
    counted = window(x, call["size"], call["footprint"], None)
    settings = x, counted, call["mode"], call["cval"], call["origin"]
    compute = dilated(*settings) if dilates else extremum(torch.amin, *settings)
    return lambda: delivered(compute(), call["output"])


def ranked(call: BoundCall) -> Computation:
    """Plan the choice of the element whose rank is given, or a percentile, or the median."""
    x, mode = checked(call, ORDERED), call["mode"]
    check_absent(axes=call["axes"])
    if not isinstance(mode, str):
        raise Deferred("several modes are an error in SciPy")
    counted = window(x, call["size"], call["footprint"], None)
    number = int(counted.sum())
    if number > MOST_RANKED:
        raise Deferred(f"the window has {number} elements, more than {MOST_RANKED}")
    rank, percentile = call["rank"], call["percentile"]
    place = number // 2
    if rank is not None:
        place = rank + number if rank < 0 else rank
    elif percentile is not None:
        share = percentile + 100 if percentile < 0 else percentile
        place = number - 1 if share == 100 else int(number * share / 100)
    if place != int(place) or not 0 <= place < number:
        raise Deferred(f"rank {place} of {number} elements is an error in SciPy")
    kth, border = int(place) + 1, (mode, call["cval"], call["origin"])
    compute = ordered(lambda windows: windows.kthvalue(kth).values, x, counted, *border)
    return lambda: delivered(compute(), call["output"])


FILTERS: dict[str, Callable[[BoundCall], Computation]] = {
    "correlate": partial(along_all_axes, turns=False),
    "correlate1d": partial(along_axis, turns=False),
    "convolve": partial(along_all_axes, turns=True),
    "convolve1d": partial(along_axis, turns=True),
    "gaussian_filter": gaussian_filter,
    "gaussian_filter1d": gaussian_filter,
    "uniform_filter": uniform_filter,
    "uniform_filter1d": uniform_filter,
    "sobel": partial(derivative, smoothing=(1, 2, 1)),
    "prewitt": partial(derivative, smoothing=(1, 1, 1)),
    "laplace": laplace,
    "minimum_filter": partial(extremes, largest=False),
    "minimum_filter1d": partial(extremes, largest=False),
    "maximum_filter": partial(extremes, largest=True),
    "maximum_filter1d": partial(extremes, largest=True),
    "grey_erosion": partial(grey, dilates=False),
    "grey_dilation": partial(grey, dilates=True),
    "median_filter": ranked,
    "rank_filter": ranked,
    "percentile_filter": ranked,
}
implement_each("ndimage", FILTERS, globals())
