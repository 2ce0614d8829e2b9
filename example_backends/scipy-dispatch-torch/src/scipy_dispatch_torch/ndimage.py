"""Filters of `scipy.ndimage`: weighted sums by convolutions, ranks and extremes of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ._tensors import (
    FLOATS,
    ORDERED,
    Deferred,
    as_numbers,
    axis_of,
    check,
    check_absent,
    check_border,
    check_output,
    delivered,
    each_axis,
    implement_each,
    implements,
    padded,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Plan = Callable[[], Tensor]

MOST_RANKED = 1024
"""The largest number of elements in a window that is sorted: each gets a copy of the image."""


def checked(x: Any, output: Any, mode: Any, cval: Any, dtypes: Any = FLOATS) -> None:
    """Raise `Deferred` unless PyTorch has SciPy's result for these arguments."""
    check(x, "input", dtypes)
    if not x.numel():
        raise Deferred("the input is empty")
    check_border(x, mode, cval)
    check_output(x, output)


def reach(size: Any, origin: Any, x: Tensor) -> tuple[int, int]:
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
    before, after = reach(kernel.numel(), origin, x)
    lines = padded(x, axis, before, after, mode, cval).movedim(axis, -1)
    sums = functional.conv1d(lines.reshape(-1, 1, lines.shape[-1]), kernel[None, None])
    return sums.reshape(*lines.shape[:-1], -1).movedim(-1, axis).contiguous()


# --- weighted sums -----------------------------------------------------------------------


def mirrored(weights: Any, origin: int) -> tuple[Any, int]:
    """Return the weights of the correlation that is a convolution, and its origin."""
    return weights[::-1], -origin - (len(weights) % 2 == 0)


def along_axis(turns: bool) -> Callable[..., Plan]:
    def plan(
        input: Any,
        weights: Any,
        axis: int = -1,
        output: Any = None,
        mode: str = "reflect",
        cval: float = 0.0,
        origin: int = 0,
    ) -> Plan:
        checked(input, output, mode, cval)
        numbers = real_weights(weights, 1)
        if turns:
            numbers, origin = mirrored(numbers, origin)
        reach(len(numbers), origin, input)
        place = axis_of(axis, input.ndim)
        return lambda: delivered(summed(input, place, numbers, mode, cval, origin), output)

    return plan


def real_weights(weights: Any, ndim: int) -> np.ndarray[Any, Any]:
    numbers = as_numbers(weights, "weights")
    if numbers.ndim != ndim or not numbers.size or numbers.dtype.kind not in "biuf":
        raise Deferred("weights= is left to SciPy")
    return numbers


def along_all_axes(turns: bool) -> Callable[..., Plan]:
    def plan(
        input: Any,
        weights: Any,
        output: Any = None,
        mode: Any = "reflect",
        cval: float = 0.0,
        origin: Any = 0,
        *,
        axes: Any = None,
    ) -> Plan:
        checked(input, output, mode, cval)
        check_absent(axes=axes)
        if not isinstance(mode, str) or not 1 <= input.ndim <= 3:
            raise Deferred("PyTorch convolves 1 to 3 dimensions, with one mode for all")
        numbers = real_weights(weights, input.ndim)
        origins = [each for _, each in each_axis(input, None, origin)]
        if turns:
            numbers = np.flip(numbers)
            lengths = zip(origins, numbers.shape, strict=True)
            origins = [-each - (length % 2 == 0) for each, length in lengths]
        reaches = list(map(reach, numbers.shape, origins, [input] * input.ndim))

        def compute() -> Tensor:
            kernel = torch.as_tensor(numbers.copy(), dtype=input.dtype, device=input.device)
            x = input
            for axis, (before, after) in enumerate(reaches):
                x = padded(x, axis, before, after, mode, cval)
            convolve = (functional.conv1d, functional.conv2d, functional.conv3d)[x.ndim - 1]
            return delivered(convolve(x[None, None], kernel[None, None])[0, 0], output)

        return compute

    return plan


SUMS = {
    "correlate": along_all_axes(turns=False),
    "correlate1d": along_axis(turns=False),
    "convolve": along_all_axes(turns=True),
    "convolve1d": along_axis(turns=True),
}
implement_each("ndimage", SUMS, globals())


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


@implements("ndimage:gaussian_filter1d")
def gaussian_filter1d(
    input: Any,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Plan:
    checked(input, output, mode, cval)
    steps = gaussian_steps(input, axis, sigma, order, mode, radius)
    if not steps:
        raise Deferred(f"sigma={sigma!r} is left to SciPy")
    return lambda: delivered(gaussian(input, steps, cval, truncate), output)


@implements("ndimage:gaussian_filter")
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Plan:
    checked(input, output, mode, cval)
    steps = gaussian_steps(input, axes, sigma, order, mode, radius)
    return lambda: delivered(gaussian(input, steps, cval, truncate) + 0, output)


def uniform(x: Tensor, steps: list[Any], cval: float) -> Tensor:
    for axis, size, mode, origin in steps:
        x = summed(x, axis, np.full(size, 1 / size), mode, cval, origin)
    return x


@implements("ndimage:uniform_filter1d")
def uniform_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: int = 0,
) -> Plan:
    checked(input, output, mode, cval)
    reach(size, origin, input)
    steps = each_axis(input, axis, size, mode, origin)
    return lambda: delivered(uniform(input, steps, cval), output)


@implements("ndimage:uniform_filter")
def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Plan:
    checked(input, output, mode, cval)
    steps = each_axis(input, axes, size, mode, origin)
    for _, length, _, shift in steps:
        reach(length, shift, input)
    return lambda: delivered(uniform(input, steps, cval) + 0, output)


def derivative(smoothing: tuple[int, int, int]) -> Callable[..., Plan]:
    def plan(
        input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: float = 0.0
    ) -> Plan:
        checked(input, output, mode, cval)
        place = axis_of(axis, input.ndim)
        modes = dict(each_axis(input, None, mode))

        def compute() -> Tensor:
            x = summed(input, place, (-1, 0, 1), modes[place], cval)
            for each in range(input.ndim):
                if each != place:
                    x = summed(x, each, smoothing, modes[each], cval)
            return delivered(x, output)

        return compute

    return plan


DERIVATIVES = {"sobel": derivative((1, 2, 1)), "prewitt": derivative((1, 1, 1))}
implement_each("ndimage", DERIVATIVES, globals())


@implements("ndimage:laplace")
def laplace(
    input: Any, output: Any = None, mode: Any = "reflect", cval: float = 0.0, *, axes: Any = None
) -> Plan:
    checked(input, output, mode, cval)
    steps = each_axis(input, axes, mode)
    if not steps:
        raise Deferred("there are no axes")

    def compute() -> Tensor:
        parts = [summed(input, axis, (1, -2, 1), each, cval) for axis, each in steps]
        return delivered(torch.stack(parts).sum(0), output)

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
) -> Plan:
    """Plan the choice of one element of the window around each."""
    steps = each_axis(x, None, counted.shape, mode, origin)
    reaches = [(axis, *reach(size, shift, x), each) for axis, size, each, shift in steps]

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
) -> Plan:
    """Plan the extremes of full windows, axis by axis."""
    steps = each_axis(x, None, counted.shape, mode, origin)
    reaches = [(axis, size, *reach(size, shift, x), each) for axis, size, each, shift in steps]

    def compute() -> Tensor:
        found: Tensor = x
        for axis, size, before, after, each in reaches:
            found = reduce(padded(found, axis, before, after, each, cval).unfold(axis, size, 1), -1)
        return found

    return compute


def extremum(
    reduce: Callable[..., Tensor], x: Any, counted: Any, mode: Any, cval: float, origin: Any
) -> Plan:
    if counted.all():
        return box(reduce, x, counted, mode, cval, origin)
    if not isinstance(mode, str):
        raise Deferred("several modes for a footprint are an error in SciPy")
    return ordered(lambda windows: reduce(windows, -1), x, counted, mode, cval, origin)


def dilated(x: Any, counted: Any, mode: Any, cval: float, origin: Any) -> Plan:
    """Plan a dilation, whose window is mirrored."""
    shifts = [shift for _, shift in each_axis(x, None, origin)]
    pairs = zip(shifts, counted.shape, strict=True)
    shifts = [-shift - (length % 2 == 0) for shift, length in pairs]
    return extremum(torch.amax, x, np.flip(counted), mode, cval, shifts)


EXTREMES = {"minimum_filter": torch.amin, "maximum_filter": torch.amax}


def windowed(name: str) -> Callable[..., Plan]:
    def plan(
        input: Any,
        size: Any = None,
        footprint: Any = None,
        output: Any = None,
        mode: Any = "reflect",
        cval: float = 0.0,
        origin: Any = 0,
        *,
        axes: Any = None,
    ) -> Plan:
        checked(input, output, mode, cval, ORDERED)
        if axes is not None and np.any(origin):
            raise Deferred("origin= beside axes=")
        counted = window(input, size, footprint, axes)
        compute = extremum(EXTREMES[name], input, counted, mode, cval, origin)
        return lambda: delivered(compute(), output)

    return plan


def windowed1d(name: str) -> Callable[..., Plan]:
    def plan(
        input: Any,
        size: int,
        axis: int = -1,
        output: Any = None,
        mode: str = "reflect",
        cval: float = 0.0,
        origin: int = 0,
    ) -> Plan:
        checked(input, output, mode, cval, ORDERED)
        counted = window(input, size, None, axis)
        origins = [0] * input.ndim
        origins[axis_of(axis, input.ndim)] = origin
        compute = box(EXTREMES[name], input, counted, mode, cval, origins)
        return lambda: delivered(compute(), output)

    return plan


def grey(name: str) -> Callable[..., Plan]:
    def plan(
        input: Any,
        size: Any = None,
        footprint: Any = None,
        structure: Any = None,
        output: Any = None,
        mode: Any = "reflect",
        cval: float = 0.0,
        origin: Any = 0,
        *,
        axes: Any = None,
    ) -> Plan:
        checked(input, output, mode, cval, ORDERED)
        check_absent(structure=structure, axes=axes)
        counted = window(input, size, footprint, None)
        if name == "grey_erosion":
            compute = extremum(torch.amin, input, counted, mode, cval, origin)
        else:
            compute = dilated(input, counted, mode, cval, origin)
        return lambda: delivered(compute(), output)

    return plan


WINDOWED = {
    **{name: windowed(name) for name in EXTREMES},
    **{f"{name}1d": windowed1d(name) for name in EXTREMES},
    **{name: grey(name) for name in ("grey_erosion", "grey_dilation")},
}
implement_each("ndimage", WINDOWED, globals())


def ranked(
    x: Any,
    rank: Callable[[int], float],
    size: Any,
    footprint: Any,
    output: Any,
    mode: Any,
    cval: float,
    origin: Any,
    axes: Any,
) -> Plan:
    checked(x, output, mode, cval, ORDERED)
    check_absent(axes=axes)
    if not isinstance(mode, str):
        raise Deferred("several modes are an error in SciPy")
    counted = window(x, size, footprint, None)
    number = int(counted.sum())
    if number > MOST_RANKED:
        raise Deferred(f"the window has {number} elements, more than {MOST_RANKED}")
    place = rank(number)
    if place != int(place) or not 0 <= place < number:
        raise Deferred(f"rank {place} of {number} elements is an error in SciPy")
    kth = int(place) + 1
    compute = ordered(lambda windows: windows.kthvalue(kth).values, x, counted, mode, cval, origin)
    return lambda: delivered(compute(), output)


@implements("ndimage:median_filter")
def median_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Plan:
    return ranked(input, lambda n: n // 2, size, footprint, output, mode, cval, origin, axes)


@implements("ndimage:rank_filter")
def rank_filter(
    input: Any,
    rank: int,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Plan:
    def place(n: int) -> float:
        return rank + n if rank < 0 else rank

    return ranked(input, place, size, footprint, output, mode, cval, origin, axes)


@implements("ndimage:percentile_filter")
def percentile_filter(
    input: Any,
    percentile: float,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Plan:
    def place(n: int) -> float:
        share = percentile + 100 if percentile < 0 else percentile
        return n - 1 if share == 100 else int(n * share / 100)

    return ranked(input, place, size, footprint, output, mode, cval, origin, axes)
