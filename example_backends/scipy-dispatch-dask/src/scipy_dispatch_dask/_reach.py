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

# The square of the precision of a double: results differ in no bit, as rounding forgets the rest.
_NOTHING = 2.0**-106
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


def windows(passes: int = 1) -> Reach:
    """Return the reach of filters with ``size``, ``footprint`` or ``structure``, in succession."""

    def reach(call: Call, ndim: int) -> Halos:
        axes = _axes(call, ndim)
        sizes = _window_sizes(call, len(axes))
        origin = 0 if call["origin"] is None else call["origin"]  # None if not a parameter
        origins = _spread(origin, len(axes))
        depths = [passes * depth for depth in map(_depth, sizes, origins)]
        return _halos(axes, depths, call["mode"])

    return reach


def weights(call: Call, ndim: int) -> Halos:
    """Return the reach of ``weights``, which has one dimension for each of the ``axes``."""
    axes = _axes(call, ndim)
    origins = _spread(call["origin"], len(axes))
    depths = list(map(_depth, np.shape(call["weights"]), origins))
    return _halos(axes, depths, call["mode"])


def line_weights(call: Call, ndim: int) -> Halos:
    """Return the reach of ``weights`` along one ``axis``."""
    return _line(call, ndim, _depth(len(call["weights"]), call["origin"]))


def line_window(call: Call, ndim: int) -> Halos:
    """Return the reach of a ``size`` along one ``axis``."""
    return _line(call, ndim, _depth(call["size"], call["origin"]))


def line_gaussian(call: Call, ndim: int) -> Halos:
    """Return the reach of a Gaussian along one ``axis``."""
    return _line(call, ndim, _radius(call, call["sigma"], call["radius"]))


def gaussian(call: Call, ndim: int) -> Halos:
    """Return the reach of a Gaussian along all ``axes``."""
    axes = _axes(call, ndim)
    sigmas = _spread(call["sigma"], len(axes))
    radii = _spread(call["radius"], len(axes))
    depths = [_radius_if_any(call, *each) for each in zip(sigmas, radii, strict=True)]
    return _halos(axes, depths, call["mode"])


def gaussian_laplace(call: Call, ndim: int) -> Halos:
    """Return the reach of second derivatives of a Gaussian along each of the ``axes``."""
    axes = _axes(call, ndim)
    sigmas = _spread(call["sigma"], len(axes))
    return _derivatives(call, ndim, dict(zip(axes, sigmas, strict=True)))


def gaussian_gradient(call: Call, ndim: int) -> Halos:
    """Return the reach of first derivatives of a Gaussian; SciPy smooths along all axes."""
    return _derivatives(call, ndim, dict(enumerate(_spread(call["sigma"], ndim))))


def stencil(call: Call, ndim: int) -> Halos:
    """Return the reach of filters that read the adjacent elements along all ``axes``."""
    axes = _axes(call, ndim)
    return _halos(axes, [1] * len(axes), call["mode"])


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


def structures(passes: int = 1) -> Reach:
    """Return the reach of binary morphology, `passes` times ``iterations`` steps."""

    def reach(call: Call, ndim: int) -> Halos:
        axes = _axes(call, ndim)
        steps = passes * int(call["iterations"])
        depths = _structure_depths(call["structure"], call["origin"], len(axes))
        return _halos(axes, [steps * depth for depth in depths], "constant")

    return reach


def two_structures(call: Call, ndim: int) -> Halos:
    """Return the reach of ``structure1`` and ``structure2``, the larger one along each axis."""
    axes = _axes(call, ndim)
    second = call["structure1"] if call["structure2"] is None else call["structure2"]
    origin2 = call["origin1"] if call["origin2"] is None else call["origin2"]
    depths = zip(
        _structure_depths(call["structure1"], call["origin1"], len(axes)),
        _structure_depths(second, origin2, len(axes)),
        strict=True,
    )
    return _halos(axes, [max(pair) for pair in depths], "constant")


def median_kernel(call: Call, ndim: int) -> Halos:
    """Return the reach of ``kernel_size``.

    The depth is one larger than needed, so that no block is smaller than the kernel. SciPy would
    warn about a smaller block.
    """
    size = call["kernel_size"]
    sizes = _spread(3 if size is None else size, ndim)
    return _halos(range(ndim), [_depth(size, 1) for size in sizes], "constant")


def domain(call: Call, ndim: int) -> Halos:
    """Return the reach of ``domain``."""
    depths = [_depth(size, 0) for size in np.shape(call["domain"])]
    return _halos(range(ndim), depths, "constant")


def spline(call: Call, ndim: int) -> Halos:
    """Return the reach of the spline filter, along one ``axis`` or all.

    An element depends on the whole line, but less and less: on others by the power of the largest
    pole, which is the distance. Farther than here that is less than `_NOTHING`.
    """
    order = int(call["order"])
    depth = int(np.log(_NOTHING) / np.log(_POLES[order])) + 1 if order > 1 else 0
    axes = range(ndim) if call["axis"] is None else [call["axis"] % ndim]
    return {axis: Halo(depth, call["mode"] == "grid-wrap") for axis in axes if depth}


def _depth(size: int, origin: int) -> int:
    return int(size) // 2 + abs(int(origin))


def _radius(call: Call, sigma: float, radius: int | None) -> int:
    truncate = call["truncate"]
    return int((4.0 if truncate is None else truncate) * sigma + 0.5) if radius is None else radius


def _radius_if_any(call: Call, sigma: float, radius: int | None) -> int:
    # SciPy skips axes with other values of sigma, including NaN.
    return _radius(call, sigma, radius) if sigma > 1e-15 else 0


def _line(call: Call, ndim: int, depth: int) -> Halos:
    return _halos([call["axis"] % ndim], [depth], call["mode"])


def _derivatives(call: Call, ndim: int, sigmas: dict[int, float]) -> Halos:
    """Return the reach of derivatives of a Gaussian with one sigma for each axis.

    SciPy takes each derivative along all axes with one mode, that of the derivative's axis. So
    two derivatives may disagree about whether an axis is periodic.
    """
    radii = _spread(call["radius"], ndim)
    depths = [_radius_if_any(call, sigma, radii[axis]) for axis, sigma in sigmas.items()]
    modes = set(_spread(call["mode"], 1))
    if modes & _PERIODIC_MODES and modes - _PERIODIC_MODES:
        return dict.fromkeys(sigmas, WHOLE)
    return _halos(sigmas, depths, next(iter(modes), "reflect"))


def _structure_depths(structure: Any, origin: Any, n_axes: int) -> list[int]:
    sizes = [3] * n_axes if structure is None else np.shape(structure)
    return list(map(_depth, sizes, _spread(origin, n_axes)))


def _window_sizes(call: Call, n_axes: int) -> list[int]:
    arrays = [call[name] for name in ("footprint", "structure") if call[name] is not None]
    if arrays:
        return [max(sizes) for sizes in zip(*map(np.shape, arrays), strict=True)]
    return _spread(call["size"], n_axes)


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
