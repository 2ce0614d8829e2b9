"""Sharing a call by cutting its input into slabs: the splitter."""

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
    """SciPy's own function on slabs of the input, each with the neighbours that it reads.

    Attributes
    ----------
    reaches : callable
        From a call, the reach along every axis.
    in_place : bool
        Whether ``output`` may be the input itself: SciPy then makes of it what it makes of
        an output apart from it.
    companion : str or None
        A parameter that takes an array of the input's shape, to be split with it.
    returns_output : bool
        Whether the function returns ``output`` if that is an array; None otherwise.
    keeps_shape : bool
        Whether the result is of the input's shape.
    runs : callable
        Whether a call ends in SciPy's running minimum or maximum. From a NaN on, those
        depend on all that came before, back to the start of the line.
    """

    reaches: Callable[[Call], Reaches]
    in_place: bool = False
    companion: str | None = None
    returns_output: bool = True
    keeps_shape: bool = True
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
            # Slabs read beyond their ends what others overwrite.
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
        """Make the array for the result, of the type and shape that SciPy gives it.

        SciPy shows both, and what is wrong with the arguments, on the least there can be.
        """
        shape = call.input.shape
        whole = [reach is WHOLE and not self.keeps_shape for reach in self.reaches(call)]
        least = [length if is_whole else 1 for length, is_whole in zip(shape, whole, strict=True)]
        arguments: dict[str, Any] = {"input": np.zeros(least, call.input.dtype)}
        if call.get("iterations") is not None:
            # Once only: repeatedly, SciPy reads beyond the ends of what is shorter than the
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
    """An array for each thread, long enough for every slab with what it reads beyond."""

    def __init__(self, result: Array, axis: int, slabs: list[Slab]) -> None:
        self.shape = list(result.shape)
        self.shape[axis] = max(slab.high - slab.low for slab in slabs)
        self.dtype = result.dtype
        self.own: Array | None = None

    def array(self) -> Array:
        """Return the calling thread's own; what is in it is what was left there."""
        if self.own is None:
            self.own = np.empty(self.shape, self.dtype)
        return self.own


def _has_nan(call: Call, policy: Policy) -> bool:
    """Whether there is a NaN in the input.

    One beyond the edges does no harm: there is nothing before it that could be remembered.
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
