"""Sharing a call by cutting its input into slabs."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from scipy_dispatch.reach import WHOLE

from . import _pool
from ._call import Deferred
from ._split import Slab, choose, cut, part
from ._strategy import Strategy, given_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from scipy_dispatch.reach import Read

    from ._call import Array, Call
    from ._policy import Policy
    from ._split import Split


@dataclass(frozen=True)
class Slabs(Strategy):
    """Run SciPy's function on slabs of the input, each with the neighbours that it reads."""

    # The reach along every axis, from a call and its number of dimensions.
    reaches: Read
    # A parameter that takes an array of the input's shape, which is split along with it.
    companion: str | None = None
    # Whether the function returns an ``output`` array; it returns None otherwise.
    returns_output: bool = True
    # Whether the result has the input's shape.
    keeps_shape: bool = True
    # The length along the axes that can be split of the smallest input that the function takes.
    least: int = 1
    # Whether a call ends in SciPy's running minimum or maximum. After a NaN, its values depend on
    # all elements before them, back to the start of the line.
    runs: Callable[[Call], bool] = lambda call: False

    def plan(self, call: Call, policy: Policy) -> Callable[[], Any]:
        split = self._split(call, policy)
        output = given_output(call, in_place=True)
        companion = self._companion(call)
        shape, axis = call["input"].shape, split.axis
        if companion is not None and companion.shape != shape:
            raise Deferred(f"{self.companion} is not of the shape of the input")
        if output is not None and (output.ndim != len(shape) or output.shape[axis] != shape[axis]):
            raise Deferred("the output is not of the shape of the result")
        return lambda: self._compute(call, split, output, policy)

    def _compute(self, call: Call, split: Split, output: Array | None, policy: Policy) -> Any:
        if split.reach.radius and self.runs(call) and _has_nan(call):
            split = self._split(call, policy, in_lines=True)
        slabs = cut(call["input"].shape[split.axis], split.number, split.reach)
        result = self._new_result(call) if output is None else output
        scratch = _Scratch(result, split.axis, slabs)

        def compute_slab(slab: Slab) -> None:
            self._compute_slab(call, split.axis, slab, result, scratch)

        _pool.run(compute_slab, slabs, policy.workers)
        return result if output is None or self.returns_output else None

    def _compute_slab(
        self, call: Call, axis: int, slab: Slab, result: Array, scratch: _Scratch
    ) -> None:
        arguments = {"input": part(call["input"], axis, slab.low, slab.high)}
        companion = self._companion(call)
        if self.companion is not None and companion is not None:
            arguments[self.companion] = part(companion, axis, slab.low, slab.high)
        target = part(result, axis, slab.start, slab.stop)
        if slab.high - slab.low == slab.stop - slab.start:
            call(**arguments, output=target)
            return
        computed = part(scratch.array(), axis, 0, slab.high - slab.low)
        call(**arguments, output=computed)
        target[...] = part(computed, axis, slab.start - slab.low, slab.stop - slab.low)

    def _split(self, call: Call, policy: Policy, in_lines: bool = False) -> Split:
        reaches = self.reaches(call, call["input"].ndim)
        # Other threads would overwrite the neighbours of a slab if the output is the input.
        if in_lines or call["output"] is call["input"]:
            reaches = [WHOLE if reach and reach.radius else reach for reach in reaches]
        return choose(call["input"].shape, call["input"].strides, reaches, policy)

    def _companion(self, call: Call) -> Array | None:
        if self.companion is None or call[self.companion] is None:
            return None
        return np.asarray(call[self.companion])

    def _new_result(self, call: Call) -> Array:
        """Allocate the result with the shape and type that SciPy gives it.

        Both are taken from a call with the smallest possible input. That call also raises
        SciPy's own error for invalid arguments.
        """
        shape = call["input"].shape
        whole = [
            reach is WHOLE and not self.keeps_shape for reach in self.reaches(call, len(shape))
        ]
        least = [
            length if is_whole else min(length, self.least)
            for length, is_whole in zip(shape, whole, strict=True)
        ]
        arguments: dict[str, Any] = {"input": np.zeros(least, call["input"].dtype)}
        if call["iterations"] is not None:
            # Repeated iterations make SciPy read beyond the ends of an input shorter than the
            # structure.
            arguments["iterations"] = 1
        if self.companion is not None and self._companion(call) is not None:
            arguments[self.companion] = np.zeros(least, bool)
        example = call(**arguments)
        lengths = zip(shape, example.shape, whole, strict=True)
        return np.empty(
            [other if is_whole else own for own, other, is_whole in lengths], example.dtype
        )


class _Scratch(threading.local):
    """A buffer for each thread, long enough for every slab with its neighbours."""

    def __init__(self, result: Array, axis: int, slabs: list[Slab]) -> None:
        self.shape = list(result.shape)
        self.shape[axis] = max(slab.high - slab.low for slab in slabs)
        self.dtype = result.dtype
        self.own: Array | None = None

    def array(self) -> Array:
        """Return the calling thread's buffer; its contents are undefined."""
        if self.own is None:
            self.own = np.empty(self.shape, self.dtype)
        return self.own


def _has_nan(call: Call) -> bool:
    """Return whether there is a NaN in the input.

    NaNs that the boundary mode adds beyond the edges are harmless, since no elements of the line
    precede them.
    """
    return call["input"].dtype.kind == "f" and bool(np.isnan(call["input"].min()))
