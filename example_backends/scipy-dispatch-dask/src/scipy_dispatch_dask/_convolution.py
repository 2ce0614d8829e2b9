"""Convolution with a kernel in memory: the length of the kernel determines the halo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._block import Block, block_of, meta_of, probe
from ._call import Call
from ._dask import Array, da
from ._halo import map_with_history

# SciPy's boundary names, and the modes of `numpy.pad` and `dask.array.pad`.
_PADDINGS = {
    "fill": "constant",
    "pad": "constant",
    "wrap": "wrap",
    "circular": "wrap",
    "symm": "symmetric",
    "symmetric": "symmetric",
}


@dataclass(frozen=True)
class Convolution:
    """Convolve or correlate ``in1``, a Dask array, with ``in2``, an array in memory.

    For convolution and for correlation, element ``i`` of the "full" result depends only on
    element ``i`` of the array and on elements before it, at most as many as the kernel is long.
    So each block of the full result needs one block of the array and the elements before it. The
    results of the other modes are parts of the full result.
    """

    # Whether "same" begins after the middle of a kernel of even length.
    late: bool = False
    arrays: tuple[str, ...] = ("in1",)

    def refuse(self, call: Call) -> str | None:
        shape, size = call["in1"].shape, np.shape(call["in2"])
        if len(shape) != len(size):
            return "in1= and in2= have different numbers of dimensions"
        if 0 in shape or 0 in size or not shape:
            return "in1= or in2= is empty or a scalar"
        if any(n == 1 < k for n, k in zip(shape, size, strict=True)):
            return "in2= is longer than in1= along an axis on which in1= has one element"
        longer = any(k > n for n, k in zip(shape, size, strict=True))
        if longer and call["mode"] == "valid":
            return "in2= is longer than in1=, and SciPy exchanges them for mode='valid'"
        boundary = call["boundary"]
        if boundary is not None and _PADDINGS.get(boundary) != "constant":
            if boundary not in _PADDINGS:
                return f"boundary={boundary!r} is not known here"
            if longer:
                return f"in2= is longer than in1=, which boundary={boundary!r} repeats"
        if call["axes"] is not None:
            axes = {int(axis) % len(shape) for axis in np.atleast_1d(call["axes"])}
            if any(k > 1 for axis, k in enumerate(size) if axis not in axes):
                return "in2= is longer than 1 along an axis that is not among axes="
        return None

    def run(self, call: Call) -> Array:
        x, kernel = call["in1"], call["in2"]
        meta = _meta(call)
        before = [size - 1 for size in np.shape(kernel)]
        padding = _PADDINGS[call["boundary"] or "fill"]
        fill = {"constant_values": call["fillvalue"] or 0} if padding == "constant" else {}
        # Convert first: SciPy's fill values have the data type of the result.
        extended = da.pad(
            x.astype(meta.dtype), [(deep, deep) for deep in before], mode=padding, **fill
        )
        full = call.replaced(mode="full", boundary="fill", fillvalue=0)
        block, shared = block_of(full, "in1")
        causal = map_with_history(
            CausalBlock(block, meta.dtype), extended, dict(enumerate(before)), meta, shared
        )
        parts = [
            _part(call["mode"], deep, length, self.late)
            for deep, length in zip(before, x.shape, strict=True)
        ]
        return causal[tuple(parts)]


@dataclass(frozen=True, eq=False)
class CausalBlock:
    """A convolution whose result has the shape of the input block: the start of the full result."""

    # A convolution with the mode "full".
    block: Block
    # SciPy may choose another for a block with one element along an axis.
    dtype: Any

    @property
    def __name__(self) -> str:
        return self.block.__name__

    def __call__(self, x: Any, **shared: Any) -> Any:
        return self.block(x, **shared)[tuple(slice(length) for length in x.shape)].astype(
            self.dtype
        )


def _meta(call: Call) -> Any:
    """Return an empty array like the result, from a probe with at most two elements an axis."""
    shape = tuple(min(length, 2) for length in call["in1"].shape)
    size = tuple(min(length, 2) for length in np.shape(call["in2"]))
    return meta_of(
        probe(call.replaced(in2=np.ones_like(call["in2"], shape=size)), "in1", shape=shape)
    )


def _part(mode: str, before: int, length: int, late: bool) -> slice:
    """Return the slice of the full result of the padded array that is the result of `mode`."""
    if mode == "full":
        return slice(before, before + length + before)
    if mode == "same":
        start = before + (before + late) // 2
        return slice(start, start + length)
    return slice(2 * before, before + length)
