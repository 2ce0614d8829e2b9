"""Functions of whole lines: the axis of the lines is in one chunk, other chunks stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import dask.array as da
import numpy as np
from dask.array import Array

from scipy_dispatch.calls import BoundCall

from ._blocks import (
    Block,
    block_of,
    dispatchable,
    meta_of,
    probe,
    why_not_unmasked,
    with_whole_lines,
)

# The longest axis of the array that shows the type of a transform.
_FEW = 4


def one_axis(call: BoundCall, ndim: int) -> tuple[int, ...]:
    """Return the axis of a call with ``axis=``."""
    return (call["axis"] % ndim,)


def two_axes(call: BoundCall, ndim: int) -> tuple[int, ...]:
    """Return the axes of a call with ``axes=``; the last two if SciPy lacks the parameter."""
    axes = (-2, -1) if call["axes"] is None else call["axes"]
    return tuple(axis % ndim for axis in axes)


@dataclass(frozen=True)
class Lines:
    """Call the function again on blocks that contain whole lines.

    A line of ones shows at once how long a line of the result is, and of which type.
    """

    arrays: tuple[str, ...] = ("x",)
    # The axes of the lines.
    axes: Callable[[BoundCall, int], tuple[int, ...]] = one_axis
    # The reason why a call cannot be supported.
    refuse: Callable[[BoundCall], str | None] = lambda call: None
    # The call for the probe, without arguments that only the real one may use.
    harmless: Callable[[BoundCall], BoundCall] = lambda call: call
    # Arguments that forbid the function to overwrite a block, which other tasks may use.
    always: Mapping[str, Any] = field(default_factory=dict)

    def run(self, call: BoundCall) -> Array:
        call = call.replaced(**self.always)
        (name,) = self.arrays
        x = call[name]
        if x.ndim == 0:
            # SciPy itself decides about a scalar: it raises an error or returns a result.
            result = probe(call, name)
            if np.ndim(result):
                return NotImplemented
            block, shared = block_of(call, name)
            return da.map_blocks(block, x, meta=meta_of(result), **shared)
        axes = self.axes(call, x.ndim)
        line = tuple(n if axis in axes else 1 for axis, n in enumerate(x.shape))
        result = probe(self.harmless(call), name, shape=line)
        meta = meta_of(result)
        x = with_whole_lines(x, axes)
        chunks = tuple(
            (result.shape[axis],) if axis in axes else sizes for axis, sizes in enumerate(x.chunks)
        )
        block, shared = block_of(call, name)
        return da.map_blocks(block, x, chunks=chunks, meta=meta, dtype=meta.dtype, **shared)


TRANSFORM = Lines(always={"overwrite_x": False})
"""For transforms along one axis."""


def second_result(name: str) -> Callable[[BoundCall], str | None]:
    """Return a check that rejects calls in which parameter `name` requests a second result."""

    def refuse(call: BoundCall) -> str | None:
        if call[name] is None or call[name] is False:
            return None
        return f"with {name}= there is more than one result"

    return refuse


def one_pulse(call: BoundCall) -> str | None:
    """Reject a second result, and a masked array, because this function keeps the mask."""
    return second_result("retquad")(call) or why_not_unmasked(call["t"], "t")


def no_plane(call: BoundCall) -> str | None:
    """Reject a 1-d array, which SciPy would broadcast to two dimensions."""
    return "x= has fewer than two dimensions" if call["x"].ndim < 2 else None


def no_length(call: BoundCall) -> str | None:
    """Reject a length of 0, for which SciPy returns one element."""
    n = call["n"]
    return "n= is not above 0, where SciPy returns an element" if n is not None and n < 1 else None


def many_widths(call: BoundCall) -> str | None:
    """Reject an array parameter with a value for each element: it would need the array's chunks."""
    for name in ("width", "duty"):
        if np.ndim(call[name]) > 0:
            return f"{name}= is an array; pass a number"
    return None


@dataclass(frozen=True)
class AxisByAxis:
    """Apply 1-d functions along several axes in succession.

    The array is rechunked between two axes, so that a task never needs more than whole lines
    along one axis.
    """

    # The function of scipy_dispatch.fft for the last axis.
    last: str
    # The function for the other axes, if it is another one: before the last axis.
    before: str | None = None
    # Or after it.
    after: str | None = None
    arrays: tuple[str, ...] = ("x",)

    def refuse(self, call: BoundCall) -> str | None:
        x = call["x"]
        if x.ndim == 0 or self.last not in ("irfft", "hfft") or call["s"] is not None:
            return None
        axes = _axes(call["axes"], None, x.ndim)
        if axes and x.shape[axes[-1]] == 1:
            return (
                "x= has one element along the last axis, and the functions of one axis refuse that"
            )
        return None

    def run(self, call: BoundCall) -> Array:
        x, s = call["x"], call["s"]
        few = None if s is None else [min(length, _FEW) for length in _tuple(s)]
        shape = tuple(min(length, _FEW) for length in x.shape)
        meta = meta_of(probe(call.replaced(s=few), "x", shape=shape))
        shared = call.without("x", "s", "axes").arguments
        if self.before and x.dtype.kind == "f":
            # SciPy converts first too, which affects how NaNs propagate.
            x = x.astype(np.result_type(x.dtype, np.complex64))
        chunks: dict[int, int] = {}
        axes = _axes(call["axes"], s, x.ndim)
        for name, axis, length in self._steps(axes, s) if axes else ():
            n = x.shape[axis] if length == -1 else length
            step = dispatchable(f"scipy_dispatch.fft:{name}")
            cut = max(x.chunks[axis]) or -1
            # Restore the chunks along the axis of the previous step; otherwise the whole array
            # would end up in one chunk.
            x = with_whole_lines(x, (axis,), chunks)
            x = TRANSFORM.run(BoundCall(step, {**shared, "x": x, "n": n, "axis": axis}))
            chunks = {axis: cut}
        return x.astype(meta.dtype)

    def _steps(self, axes: tuple[int, ...], s: Any) -> list[tuple[str, int, int | None]]:
        lengths = (None,) * len(axes) if s is None else _tuple(s)
        other = self.before or self.after or self.last
        *others, last = zip(axes, lengths, strict=True)
        first, final = [(other, *each) for each in others], [(self.last, *last)]
        return final + first if self.after else first + final


@dataclass(frozen=True)
class EveryAxis:
    """Apply a 1-d function along every axis in succession."""

    # The function, with the same parameters and an additional axis.
    identifier: str
    arrays: tuple[str, ...] = ("input",)

    def refuse(self, call: BoundCall) -> str | None:
        return None

    def run(self, call: BoundCall) -> Array:
        meta = meta_of(probe(call, "input"))
        step = BoundCall(dispatchable(self.identifier), call.arguments)
        x = call["input"]
        chunks: dict[int, int] = {}
        for axis in range(x.ndim):
            cut = max(x.chunks[axis]) or -1
            lines = with_whole_lines(x, (axis,), chunks)
            x = Lines(self.arrays).run(step.replaced(axis=axis, input=lines))
            chunks = {axis: cut}
        return x.astype(meta.dtype)


def _axes(axes: Any, s: Any, ndim: int) -> tuple[int, ...]:
    if axes is not None:
        return tuple(axis % ndim for axis in _tuple(axes))
    return tuple(range(ndim))[0 if s is None else ndim - len(_tuple(s)) :]


def _tuple(value: Any) -> tuple[int, ...]:
    try:
        return tuple(value)
    except TypeError:
        return (value,)


@dataclass(frozen=True)
class Spectrum:
    """Call the function again on blocks that contain whole lines, and keep the last result.

    The frequencies and times depend only on the length of a line. They are computed from a line of
    ones. Frequencies are along the axis of the lines, times along a new last axis.
    """

    arrays: tuple[str, ...] = ("x",)

    def refuse(self, call: BoundCall) -> str | None:
        shapes = {np.shape(call[name]) for name in self.arrays if call[name] is not None}
        if len(shapes) > 1:
            return "x= and y= have different shapes"
        (shape,) = shapes
        return "x= is empty or a scalar" if 0 in (len(shape), *shape) else None

    def run(self, call: BoundCall) -> tuple[Any, ...]:
        """Return SciPy's result, with the spectrum as a lazy array."""
        if call.function.__name__ == "csd" and call["y"] is call["x"]:
            # Then SciPy's result is real.
            call = BoundCall(
                dispatchable("scipy_dispatch.signal:welch"), call.without("y").arguments
            )
        arrays = tuple(name for name in self.arrays if call[name] is not None)
        call = call.replaced(**{name: da.asarray(call[name]) for name in arrays})
        x = call["x"]
        axis = call["axis"] % x.ndim
        line = tuple(length if each == axis else 1 for each, length in enumerate(x.shape))
        with np.errstate(invalid="ignore"):  # ones may have no power at all
            *scales, spectrum = probe(call, *arrays, shape=line)
        x = with_whole_lines(x, (axis,))
        chunks = {**dict(enumerate(x.chunks)), axis: (spectrum.shape[axis],)}
        times = spectrum.shape[x.ndim :]
        block, shared = block_of(call, *arrays)
        lazy: Array = da.map_blocks(
            LastResult(block, spectrum.dtype),
            *(call[name].rechunk(x.chunks) for name in arrays),
            chunks=(*chunks.values(), *((n,) for n in times)),
            new_axis=list(range(x.ndim, spectrum.ndim)),
            meta=meta_of(spectrum),
            **shared,
        )
        return *scales, lazy


@dataclass(frozen=True, eq=False)
class LastResult:
    """Call a function with several results and return the last."""

    block: Block
    # SciPy's result is real if one block, of two equal arrays, is passed twice.
    dtype: Any

    @property
    def __name__(self) -> str:
        return self.block.__name__

    def __call__(self, *blocks: Any, **shared: Any) -> Any:
        return self.block(*blocks, **shared)[-1].astype(self.dtype)
