"""What a strategy is: it says whether it can honour a call, and builds the graph for it."""

from __future__ import annotations

import numpy as np

from ._call import has_unknown_chunks, holds_dask_array, is_dask_array

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
            if is_dask_array(value) and has_unknown_chunks(value):
                return (
                    f"the chunk sizes of {name}= are unknown; call its .compute_chunk_sizes() first"
                )
        elif name == "output" and not _is_data_type(value):
            return (
                "output= is an array, and a lazy result cannot be written into one; "
                "pass a data type, or leave it out"
            )
        elif holds_dask_array(value):
            return (
                f"{name}= is a Dask array, but its values decide what there is to compute; "
                "pass its .compute()"
            )
    if not any(is_dask_array(call[name]) for name in strategy.arrays):
        return f"not a Dask array: {', '.join(strategy.arrays)}"
    return strategy.refuse(call)


def _is_data_type(output: Any) -> bool:
    # SciPy takes everything else for an array to fill.
    return output is None or isinstance(output, str | type | np.dtype)
