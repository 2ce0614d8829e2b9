"""The interface of a strategy: checking that a call is supported, and building its graph."""

from __future__ import annotations

from typing import Any, Protocol

import dask.array as da
import numpy as np

from scipy_dispatch.calls import BoundCall as Call

from ._blocks import (
    has_unknown_chunks,
    holds_dask_array,
    is_dask_array,
    is_lazy_number,
    kept,
    unmasked,
    without_empty_chunks,
)


class Strategy(Protocol):
    """A way to make functions of SciPy lazy."""

    @property
    def arrays(self) -> tuple[str, ...]:
        """The parameters that accept Dask arrays."""

    def refuse(self, call: Call) -> str | None:
        """Return why `call` cannot be supported; None if it can."""

    def run(self, call: Call) -> Any:
        """Return SciPy's result, lazily."""


def why_not(strategy: Strategy, call: Call) -> str | None:
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


def ready(strategy: Strategy, call: Call) -> Call:
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
