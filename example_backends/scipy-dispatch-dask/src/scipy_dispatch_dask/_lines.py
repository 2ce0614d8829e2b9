"""Functions that process lines: the axis of the lines is in one chunk, other chunks stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._block import block_of, meta_of, probe, why_not_unmasked
from ._call import Call
from ._chunks import with_whole_lines
from ._dask import Array, da

_SHORT = 64
FEW = 4


def one_axis(call: Call, ndim: int) -> tuple[int, ...]:
    """Return the axis of a call with ``axis=``."""
    return (call["axis"] % ndim,)


def two_axes(call: Call, ndim: int) -> tuple[int, ...]:
    """Return the axes of a call with ``axes=``; the last two if SciPy lacks the parameter."""
    axes = (-2, -1) if call["axes"] is None else call["axes"]
    return tuple(axis % ndim for axis in axes)


@dataclass(frozen=True)
class Lines:
    """Call the function again on blocks that contain whole lines."""

    arrays: tuple[str, ...] = ("x",)
    # The axes of the lines.
    axes: Callable[[Call, int], tuple[int, ...]] = one_axis
    # The length of the result along an axis, from that of the array.
    length: Callable[[Call, int, int], int] = lambda call, axis, n: n
    # The reason why a call cannot be supported.
    refuse: Callable[[Call], str | None] = lambda call: None
    # The call for the probe, without arguments that only the real one may use.
    harmless: Callable[[Call], Call] = lambda call: call
    # Arguments that forbid the function to overwrite a block, which other tasks may use.
    always: Mapping[str, Any] = field(default_factory=dict)

    def run(self, call: Call) -> Array:
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
        meta = meta_of(_probe_lines(self.harmless(call), name, axes))
        x = with_whole_lines(x, axes)
        chunks = tuple(
            (self.length(call, axis, x.shape[axis]),) if axis in axes else sizes
            for axis, sizes in enumerate(x.chunks)
        )
        block, shared = block_of(call, name)
        return da.map_blocks(block, x, chunks=chunks, meta=meta, dtype=meta.dtype, **shared)


def _probe_lines(call: Call, name: str, axes: tuple[int, ...]) -> Any:
    """Probe with short lines, or with lines of the full length if short ones cause an error."""
    x = call[name]
    for longest in (_SHORT, max(x.shape)):
        shape = tuple(
            min(length, longest) if axis in axes else 1 for axis, length in enumerate(x.shape)
        )
        try:
            return probe(call, name, shape=shape)
        except Exception:
            if longest == max(x.shape):
                raise
    raise AssertionError("unreachable")


def short_transform(call: Call) -> Call:
    """Shorten the transform for the probe: its length does not change the type of the result."""
    n = call["n"]
    return call.replaced(n=n if n is None or n < FEW else FEW)


def second_result(name: str) -> Callable[[Call], str | None]:
    """Return a check that rejects calls in which parameter `name` requests a second result."""

    def refuse(call: Call) -> str | None:
        if call[name] is None or call[name] is False:
            return None
        return f"with {name}= there is more than one result"

    return refuse


def one_pulse(call: Call) -> str | None:
    """Reject a second result, and a masked array, because this function keeps the mask."""
    return second_result("retquad")(call) or why_not_unmasked(call["t"], "t")


def no_plane(call: Call) -> str | None:
    """Reject a 1-d array, which SciPy would broadcast to two dimensions."""
    return "x= has fewer than two dimensions" if call["x"].ndim < 2 else None


def no_length(call: Call) -> str | None:
    """Reject a length of 0, for which SciPy returns one element."""
    n = call["n"]
    return "n= is not above 0, where SciPy returns an element" if n is not None and n < 1 else None


def many_widths(call: Call) -> str | None:
    """Reject an array parameter with a value for each element: it would need the array's chunks."""
    for name in ("width", "duty"):
        if np.ndim(call[name]) > 0:
            return f"{name}= is an array; pass a number"
    return None
