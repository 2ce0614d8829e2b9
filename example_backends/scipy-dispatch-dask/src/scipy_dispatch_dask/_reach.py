"""Reach: how many neighbours along each axis an element of the result depends on.

Each function here takes a call and the number of dimensions of its array. It returns a `Halo`
for each axis along which the function reads neighbours. The depth is an upper bound. SciPy has
already accepted the arguments, in the probe.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ._call import Call

Halos: TypeAlias = "dict[int, Halo]"
Reach: TypeAlias = Callable[[Call, int], Halos]

# The largest pole of the spline filter of each order.
_POLES = {2: 0.1716, 3: 0.268, 4: 0.3614, 5: 0.4306}
_PERIODIC_MODES = frozenset({"wrap", "grid-wrap"})


@dataclass(frozen=True)
class Halo:
    """The neighbours needed along one axis."""

    # The number of neighbours on either side.
    depth: int
    # Whether the neighbours of one end are at the other end.
    periodic: bool = False


WHOLE = Halo(sys.maxsize)
"""The whole axis is needed at once."""


def along_axes(depths: Callable[[Call, int], Iterable[int]], passes: int = 1) -> Reach:
    """Return the reach of filters along ``axes``, or one ``axis``, that are applied in succession.

    `depths` takes the call and the number of these axes, and returns the depth along each.
    """

    def reach(call: Call, ndim: int) -> Halos:
        axes = _axes(call, ndim) if call["axis"] is None else (call["axis"] % ndim,)
        found = [passes * depth for depth in depths(call, len(axes))]
        return _halos(axes, found, "constant" if call["mode"] is None else call["mode"])

    return reach


def window(call: Call, n_axes: int) -> list[int]:
    """Return the depths of a ``size``, a ``footprint`` or a ``structure``."""
    arrays = [call[name] for name in ("footprint", "structure") if call[name] is not None]
    sizes = _spread(call["size"], n_axes)
    if arrays:
        sizes = [max(each) for each in zip(*map(np.shape, arrays), strict=True)]
    return _depths(sizes, call["origin"])


def weights(call: Call, n_axes: int) -> list[int]:
    """Return the depths of ``weights``, which has one dimension for each axis."""
    return _depths(np.shape(call["weights"]), call["origin"])


def gaussian(call: Call, n_axes: int) -> list[int]:
    """Return the depths of a Gaussian."""
    sigmas, radii = (_spread(call[name], n_axes) for name in ("sigma", "radius"))
    return [_radius(call, *each) for each in zip(sigmas, radii, strict=True)]


def structure(call: Call, n_axes: int) -> list[int]:
    """Return the depths of binary morphology, that is ``iterations`` steps."""
    depths = _structure(call["structure"], call["origin"], n_axes)
    return [int(call["iterations"]) * depth for depth in depths]


def two_structures(call: Call, n_axes: int) -> list[int]:
    """Return the depths of ``structure1`` and ``structure2``, the larger one along each axis."""
    second = call["structure1"] if call["structure2"] is None else call["structure2"]
    origin2 = call["origin1"] if call["origin2"] is None else call["origin2"]
    first = _structure(call["structure1"], call["origin1"], n_axes)
    return list(map(max, first, _structure(second, origin2, n_axes)))


def median_kernel(call: Call, n_axes: int) -> list[int]:
    """Return the depths of ``kernel_size``.

    They are larger by 1 than needed, so that no block is smaller than the kernel. SciPy would
    warn about a smaller block.
    """
    sizes = 3 if call["kernel_size"] is None else call["kernel_size"]
    return _depths(_spread(sizes, n_axes), 1)


def domain(call: Call, n_axes: int) -> list[int]:
    """Return the depths of ``domain``."""
    return _depths(np.shape(call["domain"]), 0)


def stencil(call: Call, ndim: int) -> Halos:
    """Return the reach of filters that read the adjacent elements along all ``axes``."""
    axes = _axes(call, ndim)
    return _halos(axes, [1] * len(axes), call["mode"])


def gaussian_laplace(call: Call, ndim: int) -> Halos:
    """Return the reach of second derivatives of a Gaussian along each of the ``axes``."""
    axes = _axes(call, ndim)
    sigmas = _spread(call["sigma"], len(axes))
    return _derivatives(call, ndim, dict(zip(axes, sigmas, strict=True)))


def gaussian_gradient(call: Call, ndim: int) -> Halos:
    """Return the reach of first derivatives of a Gaussian; SciPy smooths along all axes."""
    return _derivatives(call, ndim, dict(enumerate(_spread(call["sigma"], ndim))))


def running_mean(reach: Reach) -> Reach:
    """Return `reach`, extended to whole axes if a cast would magnify a rounding error.

    The uniform filter computes a running sum along each line, whose rounding depends on where
    the sum starts. Truncation to an integer can turn that rounding error into a difference of 1.
    """

    def whole_if_truncated(call: Call, ndim: int) -> Halos:
        halos = reach(call, ndim)
        output = call["output"]
        if output is None or np.dtype(output).kind in "fc" or call["input"].dtype.kind in "biu":
            return halos
        return dict.fromkeys(halos, WHOLE)

    return whole_if_truncated


def spline(call: Call, ndim: int) -> Halos:
    """Return the reach of the spline filter along an ``axis``, but for rounding errors.

    An element depends on the whole line, by powers of the pole. Farther than here, they are below
    the square of the precision of a double.
    """
    depth = int(np.log(2.0**-106) / np.log(_POLES[call["order"]])) + 1
    return {call["axis"]: Halo(depth, call["mode"] == "grid-wrap")}


def _depths(sizes: Sequence[int], origin: Any) -> list[int]:
    origins = _spread(0 if origin is None else origin, len(sizes))
    return [int(size) // 2 + abs(int(each)) for size, each in zip(sizes, origins, strict=True)]


def _structure(structure: Any, origin: Any, n_axes: int) -> list[int]:
    return _depths([3] * n_axes if structure is None else np.shape(structure), origin)


def _radius(call: Call, sigma: float, radius: int | None) -> int:
    # SciPy skips axes with other values of sigma, including NaN, unless there is one axis only.
    if call["axis"] is None and not sigma > 1e-15:
        return 0
    truncate = 4.0 if call["truncate"] is None else call["truncate"]
    return int(truncate * sigma + 0.5) if radius is None else radius


def _derivatives(call: Call, ndim: int, sigmas: dict[int, float]) -> Halos:
    """Return the reach of derivatives of a Gaussian with one sigma for each axis.

    SciPy takes each derivative along all axes with one mode, that of the derivative's axis. So
    two derivatives may disagree about whether an axis is periodic.
    """
    radii = _spread(call["radius"], ndim)
    depths = [_radius(call, sigma, radii[axis]) for axis, sigma in sigmas.items()]
    modes = set(_spread(call["mode"], 1))
    if modes & _PERIODIC_MODES and modes - _PERIODIC_MODES:
        return dict.fromkeys(sigmas, WHOLE)
    return _halos(sigmas, depths, next(iter(modes), "reflect"))


def _halos(axes: Iterable[int], depths: Sequence[int], mode: str | Sequence[str]) -> Halos:
    axes = tuple(axes)
    periodic = [each in _PERIODIC_MODES for each in _spread(mode, len(depths))]
    if list(axes) != sorted(axes):
        # SciPy applies some arguments in the order of `axes`, others in the order of the array.
        if len(set(periodic)) > 1:
            return dict.fromkeys(axes, WHOLE)
        depths = [sum(depths)] * len(depths)
    return {
        axis: Halo(depth, each)
        for axis, depth, each in zip(axes, depths, periodic, strict=True)
        if depth > 0
    }


def _axes(call: Call, ndim: int) -> tuple[int, ...]:
    axes = call["axes"]
    if axes is None:
        return tuple(range(ndim))
    return tuple(axis % ndim for axis in _spread(axes, 1))


def _spread(value: Any, count: int) -> list[Any]:
    """Return a list of one value for each of `count` axes, from a single value or a sequence."""
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    return list(value)
