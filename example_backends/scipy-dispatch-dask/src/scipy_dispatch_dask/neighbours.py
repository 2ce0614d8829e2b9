"""For backends of other libraries: any function of an array and its neighbours, lazily.

`scipy_dispatch_threads.neighbours` has the same function for NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dask.array import Array

from scipy_dispatch.reach import WHOLE, Reach

from ._blocks import (
    has_unknown_chunks,
    is_dask_array,
    map_with_halo,
    meta_of,
    ones,
    why_not_numpy,
    without_empty_chunks,
)


def plan(
    function: Callable[[Array], Array],
    array: Array,
    radii: Sequence[int | None],
    *,
    periodic: bool = False,
    runs: bool = False,
) -> Callable[[], Array] | str:
    """Plan a call of a function on blocks of an array, each with its neighbours.

    Parameters
    ----------
    function : callable
        Takes a NumPy array, and returns one of its shape. A value depends on elements within
        `radii`, and so do the values at the ends, where the function continues the array. It is
        pickled for other processes.
    array : dask.array.Array
        Its argument.
    radii : sequence of int or None
        How far the function reads on either side along each axis; None if it needs whole lines.
    periodic : bool, optional
        Whether the function continues an end with the other end.
    runs : bool, optional
        Ignored: whether there is a NaN is not known before the array is computed.

    Returns
    -------
    callable or str
        Makes the lazy result; or the reason why there is none.

    Examples
    --------
    >>> import numpy as np
    >>> plan(np.sqrt, np.ones(3), [0])
    'the input is a ndarray, not a Dask array'
    """
    if not is_dask_array(array):
        return f"the input is a {type(array).__name__}, not a Dask array"
    if has_unknown_chunks(array):
        return "the chunk sizes of the input are unknown; call its .compute_chunk_sizes() first"
    if reason := why_not_numpy(array, "the input"):
        return reason.replace("=", "")
    reaches = [WHOLE if radius is None else Reach(radius, periodic) for radius in radii]

    def compute() -> Array:
        x = without_empty_chunks(array)
        least = [
            length if radius is None else min(length, 2)
            for length, radius in zip(x.shape, radii, strict=True)
        ]
        # Wrong arguments raise here, not when the result is computed.
        meta = meta_of(function(ones(x, tuple(least))))
        return map_with_halo(function, [x], reaches, meta, {})

    return compute
