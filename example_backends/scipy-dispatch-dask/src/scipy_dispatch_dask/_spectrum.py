"""Power spectra: the frequencies are computed immediately, the power lazily."""

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
    """Call the function again on blocks that contain whole lines, and keep the second result.

    The frequencies depend only on the length of a line. They are computed from a line of ones.
    """

    arrays: tuple[str, ...] = ("x",)

    def refuse(self, call: Call) -> str | None:
        """Return why `call` cannot be supported; None if it can."""
        return "x= is empty or a scalar" if 0 in (call["x"].ndim, call["x"].size) else None

    def run(self, call: Call) -> tuple[Any, Array]:
        """Return SciPy's result, with the power as a lazy array."""
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
    """Call a function with two results and return the second.

    Parameters
    ----------
    block : Block
        The function.
    """

    block: Block

    @property
    def __name__(self) -> str:
        return self.block.__name__

    def __call__(self, x: Any, **shared: Any) -> Any:
        return self.block(x, **shared)[1]
