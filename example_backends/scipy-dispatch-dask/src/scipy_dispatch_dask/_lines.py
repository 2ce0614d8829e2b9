"""Functions that work along lines: the axis in one chunk, the others as they are."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ._block import block_of, meta_of, probe, why_not_unmasked
from ._chunks import with_whole_lines
from ._dask import Array, da

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ._call import Call

_SHORT = 64
FEW = 4


def one_axis(call: Call, ndim: int) -> tuple[int, ...]:
    """Return the axes of a call with ``axis=``."""
    return (call["axis"] % ndim,)


def last_axis(call: Call, ndim: int) -> tuple[int, ...]:
    """Return the axis of a call that can only be about the last one."""
    return (ndim - 1,)


def two_axes(call: Call, ndim: int) -> tuple[int, ...]:
    """Return the axes of a call with ``axes=``, the last two for a SciPy without it."""
    axes = (-2, -1) if call["axes"] is None else call["axes"]
    return tuple(axis % ndim for axis in axes)


def no_axis(call: Call, ndim: int) -> tuple[int, ...]:
    """Return no axis, for functions that work on every element alone."""
    return ()


def same_length(call: Call, axis: int, length: int) -> int:
    """Return the length of a result that is as long as the array."""
    return length


@dataclass(frozen=True)
class Lines:
    """Call the function again for blocks that hold whole lines.

    Parameters
    ----------
    arrays : tuple of str
        The parameter that takes the array, alone.
    axes : callable, optional
        The axes along which the lines are, from the call and the number of dimensions.
    length : callable, optional
        The length of the result along an axis, from the call, the axis and the length of
        the array.
    refuse : callable, optional
        Says why a call cannot be honoured.
    harmless : callable, optional
        Replaces the arguments that must not be tried on ones, where only the type of the
        result is asked for.
    always : mapping, optional
        Arguments that are always passed: permission to overwrite a block is withheld,
        because it may be wanted elsewhere.
    """

    arrays: tuple[str, ...] = ("x",)
    axes: Callable[[Call, int], tuple[int, ...]] = one_axis
    length: Callable[[Call, int, int], int] = same_length
    refuse: Callable[[Call], str | None] = lambda call: None
    harmless: Callable[[Call], Call] = lambda call: call
    always: Mapping[str, Any] = field(default_factory=dict)

    def run(self, call: Call) -> Array:
        """Return what SciPy would, lazily."""
        call = call.replaced(**self.always)
        (name,) = self.arrays
        x = call[name]
        if x.ndim == 0:
            # SciPy says what it has against a scalar, or what it makes of it.
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
    """Probe on short lines, or on true ones if they are too short for the arguments."""
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
    """Replace the length of a transform, which need not be done to know its type."""
    n = call["n"]
    return call.replaced(n=n if n is None or n < FEW else FEW)


def second_result(name: str) -> Callable[[Call], str | None]:
    """Return a refusal of calls in which the parameter `name` asks for a second result."""

    def refuse(call: Call) -> str | None:
        if call[name] is None or call[name] is False:
            return None
        return f"with {name}= there is more than one result"

    return refuse


def one_pulse(call: Call) -> str | None:
    """Refuse a second result, and a mask, which SciPy keeps in this function alone."""
    return second_result("retquad")(call) or why_not_unmasked(call["t"], "t")


def no_plane(call: Call) -> str | None:
    """Refuse a line, of which SciPy makes a plane."""
    return "x= has fewer than two dimensions" if call["x"].ndim < 2 else None


def no_length(call: Call) -> str | None:
    """Refuse a length of 0, of which SciPy makes one element."""
    n = call["n"]
    return "n= is not above 0, where SciPy returns an element" if n is not None and n < 1 else None


def many_widths(call: Call) -> str | None:
    """Refuse a parameter for each element, which would have to be cut like the array."""
    for name in ("width", "duty"):
        if np.ndim(call[name]) > 0:
            return f"{name}= is an array; pass a number"
    return None
