"""For backends of other libraries: any function of an array and its neighbours, on all cores.

`scipy_dispatch_dask.neighbours` has the same function for Dask arrays.
"""

from __future__ import annotations

from scipy_dispatch.reach import WHOLE, Reach

from . import _pool, _strategies
from ._split import Policy
from ._strategies import Slabs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ._split import Array


def plan(
    function: Callable[[Array], Array],
    array: Array,
    radii: Sequence[int | None],
    *,
    periodic: bool = False,
    runs: bool = False,
) -> Callable[[], Array] | str:
    """Plan a call of a function, slab by slab.

    Parameters
    ----------
    function : callable
        Takes an array, and returns an array of its shape. A value depends on elements within
        `radii`, and so do the values at the ends, where the function continues the array.
    array : numpy.ndarray
        Its argument.
    radii : sequence of int or None
        How far the function reads on either side along each axis; None if it needs whole lines.
    periodic : bool, optional
        Whether the function continues an end with the other end.
    runs : bool, optional
        Whether a NaN may change the values after it to the end of the line, as in SciPy's running
        minima and maxima.

    Returns
    -------
    callable or str
        Computes the result, bit for bit that of ``function(array)``; or the reason why the call
        cannot be shared, or is not worth it.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import ndimage
    >>> plan(ndimage.laplace, np.ones((2, 2)), [1, 1])  # doctest: +ELLIPSIS
    '...'
    """
    reaches = [WHOLE if radius is None else Reach(radius, periodic) for radius in radii]
    strategy = Slabs(lambda call, ndim: reaches, keeps_shape=False, least=2, runs=runs)

    def as_in_scipy(input: Array, output: Any = None) -> Any:
        result = function(input)
        if output is None:
            return result
        output[...] = result
        return output

    return _pool.why_serial() or _strategies.plan(
        strategy, as_in_scipy, (array,), {}, Policy.current()
    )
