"""Spectra: frequencies and times are computed immediately, the spectrum lazily."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._block import Block, block_of, meta_of, probe
from ._call import Call, dispatchable
from ._chunks import with_whole_lines
from ._dask import Array, da


@dataclass(frozen=True)
class Spectrum:
    """Call the function again on blocks that contain whole lines, and keep the last result.

    The frequencies and times depend only on the length of a line. They are computed from a line of
    ones. Frequencies are along the axis of the lines, times along a new last axis.
    """

    arrays: tuple[str, ...] = ("x",)

    def refuse(self, call: Call) -> str | None:
        shapes = {np.shape(call[name]) for name in self.arrays if call[name] is not None}
        if len(shapes) > 1:
            return "x= and y= have different shapes"
        (shape,) = shapes
        return "x= is empty or a scalar" if 0 in (len(shape), *shape) else None

    def run(self, call: Call) -> tuple[Any, ...]:
        """Return SciPy's result, with the spectrum as a lazy array."""
        if call.function.__name__ == "csd" and call["y"] is call["x"]:
            # Then SciPy's result is real.
            call = Call(dispatchable("scipy_dispatch.signal:welch"), call.without("y").arguments)
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
