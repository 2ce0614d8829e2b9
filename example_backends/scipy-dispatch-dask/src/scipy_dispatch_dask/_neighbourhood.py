"""Functions of a neighbourhood: calls on overlapping blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scipy_dispatch.calls import Deferred
from scipy_dispatch.reach import Read

from ._block import block_of, meta_of, probe
from ._call import Call
from ._dask import Array, da
from ._halo import map_with_halo

_UNREFLECTED = dict.fromkeys(("reflect", "mirror", "wrap", "grid-mirror", "grid-wrap"), "nearest")


@dataclass(frozen=True)
class Neighbourhood:
    """Call the function again on every block, extended by its neighbours."""

    # How far the function reads from an element.
    reach: Read
    # The result has the shape of the first.
    arrays: tuple[str, ...] = ("input",)
    # A further reason why a call cannot be supported.
    why_not: Callable[[Call], str | None] = lambda call: None
    # The call for the probe, without arguments that only the real one may use.
    harmless: Callable[[Call], Call] = lambda call: call

    def refuse(self, call: Call) -> str | None:
        try:
            self.reach(call, call[self.arrays[0]].ndim)
        except Deferred as reason:
            return str(reason)
        return self.why_not(call)

    def run(self, call: Call) -> Array:
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


def misfit(call: Call) -> str | None:
    """Reject a ``mask`` whose shape differs from the input's."""
    if call["mask"] is not None and np.shape(call["mask"]) != np.shape(call["input"]):
        return "mask= has another shape than input="
    return None


def shrunk(call: Call) -> str | None:
    """Reject the mode that omits incomplete windows at the ends."""
    return "mode='valid' shortens the result" if call["mode"] == "valid" else None


def without_function(call: Call) -> Call:
    """Replace the user's function by one that returns 0, so that the probe does not call it."""
    return call.replaced(function=_zero)


def _zero(*args: Any, **kwargs: Any) -> float:
    return 0.0


def without_reflection(call: Call) -> Call:
    """Replace the modes in which SciPy 1.18 reads out of bounds for lines shorter than a window."""
    mode = call["mode"]
    if isinstance(mode, str):
        return call.replaced(mode=_UNREFLECTED.get(mode, mode))
    return call.replaced(mode=[_UNREFLECTED.get(each, each) for each in mode])


def tiny_kernel(call: Call) -> Call:
    """Replace the kernel sizes by 1 or 2, keeping the parity: SciPy warns about larger ones."""
    sizes = 3 if call["kernel_size"] is None else call["kernel_size"]
    return call.replaced(kernel_size=2 - np.asarray(sizes) % 2)
