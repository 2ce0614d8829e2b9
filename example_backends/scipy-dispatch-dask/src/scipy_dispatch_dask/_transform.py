"""Functions of several axes, computed axis by axis, so that a task needs whole lines only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._block import meta_of, probe, why_not_unmasked
from ._call import Call, dispatchable
from ._chunks import with_whole_lines
from ._dask import Array
from ._lines import FEW
from ._strategy import Strategy


@dataclass(frozen=True)
class AxisByAxis:
    """Apply 1-d functions along several axes in succession.

    The array is rechunked between two axes, so that a task never needs more than whole lines
    along one axis.
    """

    # The function of scipy_dispatch.fft for the last axis.
    last: str
    # For functions of one axis.
    strategies: Mapping[str, Strategy]
    # The function for the other axes, if it is another one: before the last axis.
    before: str | None = None
    # Or after it.
    after: str | None = None
    arrays: tuple[str, ...] = ("x",)

    def refuse(self, call: Call) -> str | None:
        x = call["x"]
        if x.ndim == 0 or self.last not in ("irfft", "hfft") or call["s"] is not None:
            return None
        axes = _axes(call["axes"], None, x.ndim)
        if axes and x.shape[axes[-1]] == 1:
            return (
                "x= has one element along the last axis, and the functions of one axis refuse that"
            )
        return None

    def run(self, call: Call) -> Array:
        x, s = call["x"], call["s"]
        few = None if s is None else [min(length, FEW) for length in _tuple(s)]
        shape = tuple(min(length, FEW) for length in x.shape)
        meta = meta_of(probe(call.replaced(s=few), "x", shape=shape))
        shared = call.without("x", "s", "axes").arguments
        if self.before and x.dtype.kind == "f":
            # SciPy converts first too, which affects how NaNs propagate.
            x = x.astype(np.result_type(x.dtype, np.complex64))
        chunks: dict[int, int] = {}
        for name, axis, length in self._steps(_axes(call["axes"], s, x.ndim), s):
            n = x.shape[axis] if length == -1 else length
            step = dispatchable(f"scipy_dispatch.fft:{name}")
            cut = max(x.chunks[axis]) or -1
            # Restore the chunks along the axis of the previous step; otherwise the whole array
            # would end up in one chunk.
            x = with_whole_lines(x, (axis,), chunks)
            x = self.strategies[name].run(Call(step, {**shared, "x": x, "n": n, "axis": axis}))
            chunks = {axis: cut}
        return x.astype(meta.dtype)

    def _steps(self, axes: tuple[int, ...], s: Any) -> list[tuple[str, int, int | None]]:
        lengths = (None,) * len(axes) if s is None else _tuple(s)
        other = self.before or self.after or self.last
        last = [
            (self.last, axis, length) for axis, length in zip(axes[-1:], lengths[-1:], strict=True)
        ]
        others = [
            (other, axis, length) for axis, length in zip(axes[:-1], lengths[:-1], strict=True)
        ]
        return last + others if self.after else others + last


@dataclass(frozen=True)
class EveryAxis:
    """Apply a 1-d function along every axis in succession."""

    # The function, with the same parameters and an additional axis, and its strategy.
    identifier: str
    strategy: Strategy
    arrays: tuple[str, ...] = ("input",)

    def refuse(self, call: Call) -> str | None:
        return None

    def run(self, call: Call) -> Array:
        meta = meta_of(probe(call, "input"))
        step = Call(dispatchable(self.identifier), call.arguments)
        x = call["input"]
        chunks: dict[int, int] = {}
        for axis in range(x.ndim):
            cut = max(x.chunks[axis]) or -1
            x = self.strategy.run(
                step.replaced(axis=axis, input=with_whole_lines(x, (axis,), chunks))
            )
            chunks = {axis: cut}
        return x.astype(meta.dtype)


@dataclass(frozen=True)
class Shift:
    """Swap the halves of axes with a function of `dask.array.fft`."""

    # Dask.array.fft.fftshift or its inverse.
    function: Callable[..., Array]
    arrays: tuple[str, ...] = ("x",)

    def refuse(self, call: Call) -> str | None:
        x = call["x"]
        if x.ndim == 0:
            return "x= is a scalar"
        return why_not_unmasked(x, "x")

    def run(self, call: Call) -> Array:
        probe(call, "x")
        axes = call["axes"]
        if isinstance(axes, np.ndarray):
            axes = axes.tolist()
        return self.function(call["x"], axes=axes)


def _axes(axes: Any, s: Any, ndim: int) -> tuple[int, ...]:
    if axes is not None:
        return tuple(axis % ndim for axis in _tuple(axes))
    return tuple(range(ndim))[0 if s is None else ndim - len(_tuple(s)) :]


def _tuple(value: Any) -> tuple[int, ...]:
    try:
        return tuple(value)
    except TypeError:
        return (value,)
