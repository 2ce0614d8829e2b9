"""Sharing a call by cutting its input into slabs."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from . import _pool
from ._call import Deferred
from ._reach import never
from ._split import WHOLE, Slab, choose, cut, part
from ._strategy import Strategy, given_output, is_same_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._call import Array, Call
    from ._policy import Policy
    from ._split import Reaches, Split


@dataclass(frozen=True)
class Slabs(Strategy):
    """Run SciPy's function on slabs of the input, each with the neighbours that it reads.

    Attributes
    ----------
    reaches : callable
        Takes a call; returns the reach along every axis.
    in_place : bool
        Whether SciPy gives the same result if ``output`` is the input itself.
    companion : str or None
        A parameter that takes an array of the input's shape, which is split along with it.
    returns_output : bool
        Whether the function returns an ``output`` array; it returns None otherwise.
    keeps_shape : bool
        Whether the result has the input's shape.
    least : int
        The length along the axes that can be split of the smallest input that the function takes.
    runs : callable
        Whether a call ends in SciPy's running minimum or maximum. After a NaN, its values depend
        on all elements before them, back to the start of the line.
    """

    reaches: Callable[[Call], Reaches]
    in_place: bool = False
    companion: str | None = None
    returns_output: bool = True
    keeps_shape: bool = True
    least: int = 1
    runs: Callable[[Call], bool] = never

    def check_arguments(self, call: Call, policy: Policy) -> None:
        split = self._split(call, policy)
        output = given_output(call)
        companion = self._companion(call)
        if companion is not None and companion.shape != call.input.shape:
            raise Deferred(f"{self.companion} is not of the shape of the input")
        if output is None:
            return
        shape, axis = call.input.shape, split.axis
        if output.ndim != len(shape) or output.shape[axis] != shape[axis]:
            raise Deferred("the output is not of the shape of the result")
        for name, value in call.arguments.items():
            if name == "output" or not isinstance(value, np.ndarray):
                continue
            if np.may_share_memory(output, value):
                self._check_shared_memory(call, name, output)

    def _check_shared_memory(self, call: Call, name: str, output: Array) -> None:
        if name != "input" or not is_same_array(call.input, output):
            raise Deferred(f"the output shares memory with {name}")
        if not self.in_place or np.iscomplexobj(call.get("weights")):
            raise Deferred("SciPy overwrites the input before it has read it for the last time")

    def compute(self, call: Call, policy: Policy) -> Any:
        split = self._split(call, policy)
        if split.reach.radius and self.runs(call) and _has_nan(call, policy):
            split = self._split(call, policy, along_lines=False)
        slabs = cut(call.input.shape[split.axis], split.number, split.reach)
        output = given_output(call)
        result = self._new_result(call) if output is None else output
        if output is not None and split.reach.radius and np.may_share_memory(output, call.input):
            # A slab also reads elements beyond its ends, which other threads would overwrite.
            result = np.empty_like(output)

        scratch = _Scratch(result, split.axis, slabs)

        def compute_slab(slab: Slab) -> None:
            self._compute_slab(call, split.axis, slab, result, scratch)

        _pool.run(compute_slab, slabs, policy.workers)
        if output is None:
            return result
        if result is not output:
            _copy(result, output, split.axis, slabs, policy)
        return output if self.returns_output else None

    def _compute_slab(
        self, call: Call, axis: int, slab: Slab, result: Array, scratch: _Scratch
    ) -> None:
        arguments = {"input": part(call.input, axis, slab.low, slab.high)}
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

    def _split(self, call: Call, policy: Policy, along_lines: bool = True) -> Split:
        reaches = self.reaches(call)
        if not along_lines:
            reaches = [WHOLE if reach and reach.radius else reach for reach in reaches]
        return choose(call.input.shape, call.input.strides, reaches, policy)

    def _companion(self, call: Call) -> Array | None:
        if self.companion is None or call[self.companion] is None:
            return None
        return np.asarray(call[self.companion])

    def _new_result(self, call: Call) -> Array:
        """Allocate the result with the shape and type that SciPy gives it.

        Both are taken from a call with the smallest possible input. That call also raises
        SciPy's own error for invalid arguments.
        """
        shape = call.input.shape
        whole = [reach is WHOLE and not self.keeps_shape for reach in self.reaches(call)]
        least = [
            length if is_whole else min(length, self.least)
            for length, is_whole in zip(shape, whole, strict=True)
        ]
        arguments: dict[str, Any] = {"input": np.zeros(least, call.input.dtype)}
        if call.get("iterations") is not None:
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


def _has_nan(call: Call, policy: Policy) -> bool:
    """Return whether there is a NaN in the input.

    NaNs that the boundary mode adds beyond the edges are harmless, since no elements of the line
    precede them.
    """
    if call.input.dtype.kind != "f":
        return False
    found: list[bool] = []

    def look(start: int) -> None:
        if not found and np.isnan(rows[start : start + step]).any():
            found.append(True)

    rows = call.input if call.input.flags.c_contiguous else call.input.T
    step = -(-len(rows) // (policy.workers * policy.slabs_per_worker))
    _pool.run(look, range(0, len(rows), step), policy.workers)
    return bool(found)


def _copy(source: Array, target: Array, axis: int, slabs: list[Slab], policy: Policy) -> None:
    def copy_slab(slab: Slab) -> None:
        part(target, axis, slab.start, slab.stop)[...] = part(source, axis, slab.start, slab.stop)

    _pool.run(copy_slab, slabs, policy.workers)
