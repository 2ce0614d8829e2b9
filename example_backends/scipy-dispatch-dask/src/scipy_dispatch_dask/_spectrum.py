"""Power spectra: the frequencies at once, the power lazily."""

from __future__ import annotations

from dataclasses import dataclass

from ._block import Block, block_of, meta_of, probe
from ._chunks import with_whole_lines
from ._dask import Array, da

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._call import Call


@dataclass(frozen=True)
class Spectrum:
    """Call the function again for blocks that hold whole lines, and keep the second result.

    The frequencies depend on nothing but the length of a line: they come from one line of
    ones.
    """

    arrays: tuple[str, ...] = ("x",)

    def refuse(self, call: Call) -> str | None:
        """Say why `call` cannot be honoured; None if it can."""
        return "x= is empty or a scalar" if 0 in (call["x"].ndim, call["x"].size) else None

    def run(self, call: Call) -> tuple[Any, Array]:
        """Return what SciPy would, the power lazily."""
        x = call["x"]
        axis = call["axis"] % x.ndim
        line = tuple(length if each == axis else 1 for each, length in enumerate(x.shape))
        frequencies, power = probe(call, "x", shape=line)
        x = with_whole_lines(x, (axis,))
        chunks = tuple(
            (power.shape[axis],) if each == axis else sizes for each, sizes in enumerate(x.chunks)
        )
        block, shared = block_of(call, "x")
        meta = meta_of(power)
        lazy = da.map_blocks(
            SecondResult(block), x, chunks=chunks, meta=meta, dtype=meta.dtype, **shared
        )
        return frequencies, lazy


@dataclass(frozen=True, eq=False)
class SecondResult:
    """The second of two results.

    Parameters
    ----------
    block : Block
        What has two results.
    """

    block: Block

    @property
    def __name__(self) -> str:
        return self.block.__name__

    def __call__(self, x: Any, **shared: Any) -> Any:
        return self.block(x, **shared)[1]
