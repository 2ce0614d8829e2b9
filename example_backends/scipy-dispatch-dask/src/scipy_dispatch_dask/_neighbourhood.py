"""Functions of neighbourhoods, and convolutions: calls on overlapping blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.array import Array

from scipy_dispatch.calls import BoundCall, Deferred
from scipy_dispatch.reach import WHOLE, Reach, Reaches, Read, along_axes

from ._blocks import Block, block_of, map_with_halo, map_with_history, meta_of, probe

# The largest pole of the spline filter of each order.
_POLES = {2: 0.1716, 3: 0.268, 4: 0.3614, 5: 0.4306}


@along_axes
def median_kernel(call: BoundCall, number: int) -> list[int]:
    """Return the reach of ``kernel_size``.

    It is larger by 1 than needed, so that no block is smaller than the kernel. SciPy would warn
    about a smaller block.
    """
    sizes = 3 if call["kernel_size"] is None else call["kernel_size"]
    return [int(size) // 2 + 1 for size in np.broadcast_to(sizes, number)]


@along_axes
def domain_reach(call: BoundCall, number: int) -> list[int]:
    """Return the reach of ``domain``."""
    return [size // 2 for size in np.shape(call["domain"])]


def running_mean(read: Read) -> Read:
    """Return the reach of the uniform filter: whole axes if a cast would magnify rounding errors.

    It computes a running sum along each line, whose rounding depends on where the sum starts.
    Truncation to an integer can turn that rounding error into a difference of 1.
    """

    def whole_if_truncated(call: BoundCall, ndim: int) -> Reaches:
        found = read(call, ndim)
        output = call["output"]
        if output is None or np.dtype(output).kind in "fc" or call["input"].dtype.kind in "biu":
            return found
        return [WHOLE if reach and reach.radius else reach for reach in found]

    return whole_if_truncated


def spline_reach(call: BoundCall, ndim: int) -> Reaches:
    """Return the reach of the spline filter along an ``axis``, but for rounding errors.

    An element depends on the whole line, by powers of the pole. Farther than here, they are below
    the square of the precision of a double.
    """
    depth = int(np.log(2.0**-106) / np.log(_POLES[call["order"]])) + 1
    found: Reaches = [Reach()] * ndim
    found[call["axis"]] = Reach(depth, call["mode"] == "grid-wrap")
    return found


_UNREFLECTED = dict.fromkeys(("reflect", "mirror", "wrap", "grid-mirror", "grid-wrap"), "nearest")


@dataclass(frozen=True)
class Neighbourhood:
    """Call the function again on every block, extended by its neighbours."""

    # How far the function reads from an element.
    reach: Read
    # The result has the shape of the first.
    arrays: tuple[str, ...] = ("input",)
    # A further reason why a call cannot be supported.
    why_not: Callable[[BoundCall], str | None] = lambda call: None
    # The call for the probe, without arguments that only the real one may use.
    harmless: Callable[[BoundCall], BoundCall] = lambda call: call

    def refuse(self, call: BoundCall) -> str | None:
        try:
            self.reach(call, call[self.arrays[0]].ndim)
        except Deferred as reason:
            return str(reason)
        return self.why_not(call)

    def run(self, call: BoundCall) -> Array:
        x = call[self.arrays[0]]
        arrays = tuple(name for name in self.arrays if call[name] is not None)
        others = {name: da.asarray(call[name]) for name in arrays[1:]}
        call = call.replaced(**others)
        result = probe(self.harmless(call), *arrays)
        if result.ndim != x.ndim:
            # A user's function returned several results for a window, or SciPy converted a
            # scalar to an array.
            return NotImplemented
        block, shared = block_of(call, *arrays)
        return map_with_halo(
            block,
            [call[name] for name in arrays],
            self.reach(call, x.ndim),
            meta_of(result),
            shared,
        )


def misfit(call: BoundCall) -> str | None:
    """Reject a ``mask`` whose shape differs from the input's."""
    if call["mask"] is not None and np.shape(call["mask"]) != np.shape(call["input"]):
        return "mask= has another shape than input="
    return None


def shrunk(call: BoundCall) -> str | None:
    """Reject the mode that omits incomplete windows at the ends."""
    return "mode='valid' shortens the result" if call["mode"] == "valid" else None


def without_function(call: BoundCall) -> BoundCall:
    """Replace the user's function by one that returns 0, so that the probe does not call it."""
    return call.replaced(function=_zero)


def _zero(*args: Any, **kwargs: Any) -> float:
    return 0.0


def without_reflection(call: BoundCall) -> BoundCall:
    """Replace the modes in which SciPy 1.18 reads out of bounds for lines shorter than a window."""
    mode = call["mode"]
    if isinstance(mode, str):
        return call.replaced(mode=_UNREFLECTED.get(mode, mode))
    return call.replaced(mode=[_UNREFLECTED.get(each, each) for each in mode])


def tiny_kernel(call: BoundCall) -> BoundCall:
    """Replace the kernel sizes by 1 or 2, keeping the parity: SciPy warns about larger ones."""
    sizes = 3 if call["kernel_size"] is None else call["kernel_size"]
    return call.replaced(kernel_size=2 - np.asarray(sizes) % 2)


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

    def refuse(self, call: BoundCall) -> str | None:
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

    def run(self, call: BoundCall) -> Array:
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


def _meta(call: BoundCall) -> Any:
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
