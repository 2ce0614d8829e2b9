"""What a strategy is: it says whether it can honour a call, and builds the graph for it."""

from __future__ import annotations

import numpy as np

from ._block import unmasked
from ._call import has_unknown_chunks, holds_dask_array, is_dask_array, is_lazy_number
from ._chunks import without_empty_chunks
from ._dask import da

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from ._call import Call

    class Strategy(Protocol):
        """One way to make functions of SciPy lazy."""

        @property
        def arrays(self) -> tuple[str, ...]:
            """The parameters in which Dask arrays are welcome."""

        def refuse(self, call: Call) -> str | None:
            """Say why `call` cannot be honoured; None if it can."""

        def run(self, call: Call) -> Any:
            """Return what SciPy would, lazily."""


def why_not(strategy: Strategy, call: Call) -> str | None:
    """Say why `strategy` cannot honour `call`; None if it can.

    Parameters
    ----------
    strategy : Strategy
        The strategy of the function called.
    call : Call
        The call.
    """
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
    # What is no array yet is only looked at: its shape and its data type.
    return strategy.refuse(call.replaced(**{first: as_any_array(call[first])}))


def ready(strategy: Strategy, call: Call) -> Call:
    """Return `call` with a Dask array first, whatever the caller gave there.

    That is a NumPy array where another argument is a Dask array, or where the user asks for
    Dask with ``type=``. No array has empty chunks or a mask. What becomes of the arguments
    before the result is computed does not matter.

    Parameters
    ----------
    strategy : Strategy
        The strategy of the function called.
    call : Call
        The call.
    """
    call = call.kept()
    given = {
        name: unmasked(value) for name, value in call.arguments.items() if name in strategy.arrays
    }
    lazy = {name: without_empty_chunks(x) for name, x in given.items() if is_dask_array(x)}
    first = strategy.arrays[0]
    if first not in lazy:
        chunks = next((x.chunks for x in lazy.values()), "auto")
        lazy[first] = da.from_array(as_any_array(given[first]), chunks=chunks)
    return call.replaced(**{**given, **lazy})


def as_any_array(value: Any) -> Any:
    """Return `value`, or a NumPy array for a list or a number."""
    return value if hasattr(value, "dtype") else np.asarray(value)


def _is_data_type(output: Any) -> bool:
    # SciPy takes everything else for an array to fill.
    return output is None or isinstance(output, str | type | np.dtype)
