"""Sharing a call that SciPy computes axis by axis: each pass is split on its own.

Each pass runs along whole lines of another axis, so that no single axis could be split for all
passes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scipy_dispatch.reach import window_shape

from ._call import Call, Deferred
from ._reach import full_window
from ._strategy import Strategy, evaluate, given_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ._policy import Policy
    from ._slabs import Slabs


@dataclass(frozen=True)
class Passes(Strategy):
    """Passes of a 1-d function: the first from input to output, the others within the output."""

    function: Callable[..., Any]
    # How each pass is split.
    slabs: Slabs
    # Yields the further arguments of the 1-d function for each pass.
    passes: Callable[[Call], Iterator[dict[str, Any]]]

    def plan(self, call: Call, policy: Policy) -> Callable[[], Any]:
        reason = Deferred("nothing is done along any axis")
        for arguments in self.passes(call):
            arguments.update(input=call["input"], output=call["output"])
            try:
                self.slabs.plan(Call(self.function, arguments), policy)
            except Deferred as deferred:
                reason = deferred
            else:
                return lambda: self._compute(call, policy)
        raise reason

    def _compute(self, call: Call, policy: Policy) -> Any:
        source, output = call["input"], given_output(call, in_place=True)
        if output is None:
            example = call(input=np.zeros([1] * source.ndim, source.dtype))
            output = np.empty(source.shape, example.dtype)
        for arguments in self.passes(call):
            arguments.update(input=source, output=output)
            evaluate(self.slabs, self.function, (), arguments, policy)
            source = output
        return output


def gaussian(call: Call) -> Iterator[dict[str, Any]]:
    """Yield the passes of a Gaussian filter."""
    for axis, sigma, order, mode, radius in _by_axes(call, "sigma", "order", "mode", "radius"):
        if sigma > 1e-15:
            further = {"cval": call["cval"], "truncate": call["truncate"], "radius": radius}
            yield {"sigma": sigma, "axis": axis, "order": order, "mode": mode, **further}


def extreme(call: Call) -> Iterator[dict[str, Any]]:
    """Yield the passes of a minimum or maximum filter."""
    if not full_window(call):
        raise Deferred("the window is not a full box, so that it cannot be gone over by axes")
    sizes = window_shape(call, len(call.axes(call["input"].ndim)))
    for size, (axis, origin, mode) in zip(sizes, _by_axes(call, "origin", "mode"), strict=True):
        if size > 1:
            yield _box(call, size, axis, origin, mode)


def uniform(call: Call) -> Iterator[dict[str, Any]]:
    """Yield the passes of a uniform filter."""
    for axis, size, origin, mode in _by_axes(call, "size", "origin", "mode"):
        if size > 1:
            yield _box(call, size, axis, origin, mode)


def spline(call: Call) -> Iterator[dict[str, Any]]:
    """Yield the passes of a spline filter."""
    for axis in range(call["input"].ndim):
        yield {"order": call["order"], "axis": axis, "mode": call["mode"]}


def _by_axes(call: Call, *names: str) -> Iterator[tuple[Any, ...]]:
    axes = call.axes(call["input"].ndim)
    return zip(axes, *(call.each(name, len(axes)) for name in names), strict=True)


def _box(call: Call, size: Any, axis: int, origin: Any, mode: Any) -> dict[str, Any]:
    return {
        "size": int(size),
        "axis": axis,
        "mode": mode,
        "cval": call["cval"],
        "origin": origin,
    }
