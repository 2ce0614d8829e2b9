"""The interface of a strategy, and those that only call a function of Dask or dask-image."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import dask.array as da
import numpy as np
from dask.array import Array

from scipy_dispatch.calls import BoundCall

from ._blocks import (
    has_unknown_chunks,
    holds_dask_array,
    is_dask_array,
    is_lazy_number,
    kept,
    meta_of,
    probe,
    unmasked,
    why_not_numpy,
    why_not_unmasked,
    without_empty_chunks,
)


class Strategy(Protocol):
    """A way to make functions of SciPy lazy."""

    @property
    def arrays(self) -> tuple[str, ...]:
        """The parameters that accept Dask arrays."""

    def refuse(self, call: BoundCall) -> str | None:
        """Return why `call` cannot be supported; None if it can."""

    def run(self, call: BoundCall) -> Any:
        """Return SciPy's result, lazily."""


def why_not(strategy: Strategy, call: BoundCall) -> str | None:
    """Return why `strategy` does not support `call`; None if it does."""
    for name, value in call.arguments.items():
        if name in strategy.arrays:
            if not is_dask_array(value):
                if holds_dask_array(value):
                    return f"{name}= is a list of Dask arrays; pass dask.array.stack() of it"
            elif has_unknown_chunks(value):
                return (
                    f"the chunk sizes of {name}= are unknown; call its .compute_chunk_sizes() first"
                )
        elif name == "output" and not _is_data_type(value):
            return (
                "output= is an array, and a lazy result cannot be written into one; "
                "pass a data type, or leave it out"
            )
        elif holds_dask_array(value) and not (name == "index" and is_lazy_number(value)):
            return (
                f"{name}= is a Dask array, but its values decide what there is to compute; "
                "pass its .compute()"
            )
    first = strategy.arrays[0]
    # This check reads only the shape and data type of a value that is not an array yet.
    return strategy.refuse(call.replaced(**{first: as_any_array(call[first])}))


def ready(strategy: Strategy, call: BoundCall) -> BoundCall:
    """Return `call` with a Dask array as its first array argument.

    The caller may have passed a NumPy array there, if another argument is a Dask array or if
    ``type=`` selects Dask. The arrays in the returned call have no empty chunks and no masks.
    They are copies, so that the caller may change the originals before the result is computed.
    """
    call = kept(call)
    given = {
        name: unmasked(value) for name, value in call.arguments.items() if name in strategy.arrays
    }
    lazy = {name: without_empty_chunks(x) for name, x in given.items() if is_dask_array(x)}
    first = strategy.arrays[0]
    if first not in lazy:
        shape = np.shape(given[first])
        # Positions in the array may be lazy instead, and need it as one chunk.
        chunks = next((x.chunks if x.shape == shape else -1 for x in lazy.values()), "auto")
        lazy[first] = da.from_array(as_any_array(given[first]), chunks=chunks)
    return call.replaced(**{**given, **lazy})


def as_any_array(value: Any) -> Any:
    """Return `value`, converted to a NumPy array if it is a list or a number."""
    return value if hasattr(value, "dtype") else np.asarray(value)


def _is_data_type(output: Any) -> bool:
    # SciPy treats any other value as an array to fill.
    return output is None or isinstance(output, str | type | np.dtype)


@dataclass(frozen=True)
class Shift:
    """Swap the halves of axes with a function of `dask.array.fft`."""

    # Dask.array.fft.fftshift or its inverse.
    function: Callable[..., Array]
    arrays: tuple[str, ...] = ("x",)

    def refuse(self, call: BoundCall) -> str | None:
        x = call["x"]
        if x.ndim == 0:
            return "x= is a scalar"
        return why_not_unmasked(x, "x")

    def run(self, call: BoundCall) -> Array:
        probe(call, "x")
        axes = call["axes"]
        if isinstance(axes, np.ndarray):
            axes = axes.tolist()
        return self.function(call["x"], axes=axes)


@dataclass(frozen=True)
class FourierFilter:
    """Filter with the function of the same name in `dask_image.ndfourier`.

    The input is converted to double precision, in which SciPy computes for every data type.
    """

    # The one that gives the strength of the filter.
    parameter: str
    arrays: tuple[str, ...] = ("input",)

    def refuse(self, call: BoundCall) -> str | None:
        x, n = call["input"], call["n"]
        if x.ndim == 0 or x.size == 0:
            return "input= is empty or a scalar"
        if n >= 0 and n // 2 + 1 != x.shape[call["axis"]]:
            return "input= is not as long along axis= as a real transform of n= elements"
        if self.parameter == "size" and not np.all(np.asarray(call["size"]) > 0):
            return "size= is not above 0, for which SciPy returns zeros"
        return why_not_numpy(x, "input")

    def run(self, call: BoundCall) -> Array:
        from dask_image import ndfourier

        x = call["input"]
        meta = meta_of(probe(call, "input"))
        result: Array = getattr(ndfourier, call.function.__name__)(
            x.astype(np.promote_types(x.dtype, np.float64)),
            np.broadcast_to(np.asarray(call[self.parameter], dtype=np.float64), x.ndim),
            n=max(call["n"], -1),
            axis=call["axis"],
        )
        return result.astype(meta.dtype)
