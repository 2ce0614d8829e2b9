"""Convolution with a kernel that is in memory: it reaches as far as the kernel is long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._block import Block, block_of, meta_of, probe
from ._dask import Array, da
from ._halo import map_with_history

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call

# SciPy's boundaries, as `numpy.pad` and `dask.array.pad` call them.
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

    Element ``i`` of the "full" result depends on element ``i`` of the array and on those
    before it, no further back than the kernel is long, for either function. So a block of
    the full result takes a block of the array and the elements before it. The results of
    the other modes are parts of the full one.

    Parameters
    ----------
    late : bool, optional
        Where the "same" result begins in the full one if the kernel has no middle: after
        its middle rather than before.
    """

    late: bool = False
    arrays: tuple[str, ...] = ("in1",)

    def refuse(self, call: Call) -> str | None:
        """Say why `call` cannot be honoured; None if it can."""
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
        """Return what SciPy would, lazily."""
        x, kernel = call["in1"], call["in2"]
        meta = _meta(call)
        before = [size - 1 for size in np.shape(kernel)]
        padding = _PADDINGS[call["boundary"] or "fill"]
        fill = {"constant_values": call["fillvalue"] or 0} if padding == "constant" else {}
        # The data type first, because what SciPy fills in has that of the result.
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
    """A convolution that returns as much as it takes.

    Parameters
    ----------
    block : Block
        The convolution, with the mode "full".
    dtype : numpy.dtype
        The data type of the result, which SciPy makes depend on whether there is a single
        element along an axis.
    """

    block: Block
    dtype: Any

    @property
    def __name__(self) -> str:
        return self.block.__name__

    def __call__(self, x: Any, **shared: Any) -> Any:
        return self.block(x, **shared)[tuple(slice(length) for length in x.shape)].astype(
            self.dtype
        )


def _meta(call: Call) -> Any:
    """Return an empty array like the result, from two elements along each axis if there are."""
    shape = tuple(min(length, 2) for length in call["in1"].shape)
    size = tuple(min(length, 2) for length in np.shape(call["in2"]))
    return meta_of(
        probe(call.replaced(in2=np.ones_like(call["in2"], shape=size)), "in1", shape=shape)
    )


def _part(mode: str, before: int, length: int, late: bool) -> slice:
    """Return where the result of `mode` lies in that of the padded array."""
    if mode == "full":
        return slice(before, before + length + before)
    if mode == "same":
        start = before + (before + late) // 2
        return slice(start, start + length)
    return slice(2 * before, before + length)
