"""Sharing an interpolation at given points: the points are split, not the input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from scipy_dispatch.reach import Reach

from . import _pool
from ._call import Deferred
from ._split import choose, cut, part
from ._strategy import Strategy, evaluate, given_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._call import Array, Call
    from ._passes import Passes
    from ._policy import Policy
    from ._split import Slab, Split


@dataclass(frozen=True)
class Points(Strategy):
    """`scipy.ndimage.map_coordinates`, with the points split among threads."""

    # How the preceding spline filter is shared.
    spline_filter: Passes

    counted = "coordinates"

    def plan(self, call: Call, policy: Policy) -> Callable[[], Any]:
        coordinates = np.asarray(call["coordinates"])
        points = coordinates[0]
        split = choose(points.shape, points.strides, [Reach()] * points.ndim, policy)
        if _is_filtered(call) and call["mode"] in ("nearest", "grid-constant"):
            raise Deferred(
                f"with mode={call['mode']!r} SciPy pads the input before the spline filter, "
                "and only its own single call knows by how much"
            )
        output = given_output(call)
        if output is not None and output.shape != points.shape:
            raise Deferred("the output is not of the shape of the result")
        return lambda: self._compute(call, coordinates, split, output, policy)

    def _compute(
        self, call: Call, coordinates: Array, split: Split, output: Array | None, policy: Policy
    ) -> Any:
        if output is None:
            least = np.zeros([1] * call["input"].ndim, call["input"].dtype)
            example = call(input=least, coordinates=np.zeros((len(coordinates), 1)))
            output = np.empty(coordinates.shape[1:], example.dtype)
        source = call["input"]
        if _is_filtered(call):
            dtype = np.complex128 if source.dtype.kind == "c" else np.float64
            further = {"order": call["order"], "output": dtype, "mode": call["mode"]}
            source = evaluate(self.spline_filter, ndimage.spline_filter, (source,), further, policy)

        def compute_slab(slab: Slab) -> None:
            call(
                input=source,
                coordinates=part(coordinates, split.axis + 1, slab.start, slab.stop),
                output=part(output, split.axis, slab.start, slab.stop),
                prefilter=False,
            )

        slabs = cut(output.shape[split.axis], split.number, split.reach)
        _pool.run(compute_slab, slabs, policy.workers)
        return output


def _is_filtered(call: Call) -> bool:
    return bool(call["prefilter"] and call["order"] > 1)
