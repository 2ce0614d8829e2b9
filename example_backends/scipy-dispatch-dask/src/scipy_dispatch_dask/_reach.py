"""How far functions of `scipy.signal` and the spline filter read; see `scipy_dispatch.reach`."""

from __future__ import annotations

import numpy as np

from scipy_dispatch.reach import WHOLE, Reach, Reaches, Read, along_axes

from ._call import Call

# The largest pole of the spline filter of each order.
_POLES = {2: 0.1716, 3: 0.268, 4: 0.3614, 5: 0.4306}


@along_axes
def median_kernel(call: Call, number: int) -> list[int]:
    """Return the reach of ``kernel_size``.

    It is larger by 1 than needed, so that no block is smaller than the kernel. SciPy would warn
    about a smaller block.
    """
    sizes = 3 if call["kernel_size"] is None else call["kernel_size"]
    return [int(size) // 2 + 1 for size in np.broadcast_to(sizes, number)]


@along_axes
def domain(call: Call, number: int) -> list[int]:
    """Return the reach of ``domain``."""
    return [size // 2 for size in np.shape(call["domain"])]


def running_mean(read: Read) -> Read:
    """Return the reach of the uniform filter: whole axes if a cast would magnify rounding errors.

    It computes a running sum along each line, whose rounding depends on where the sum starts.
    Truncation to an integer can turn that rounding error into a difference of 1.
    """

    def whole_if_truncated(call: Call, ndim: int) -> Reaches:
        found = read(call, ndim)
        output = call["output"]
        if output is None or np.dtype(output).kind in "fc" or call["input"].dtype.kind in "biu":
            return found
        return [WHOLE if reach and reach.radius else reach for reach in found]

    return whole_if_truncated


def spline(call: Call, ndim: int) -> Reaches:
    """Return the reach of the spline filter along an ``axis``, but for rounding errors.

    An element depends on the whole line, by powers of the pole. Farther than here, they are below
    the square of the precision of a double.
    """
    depth = int(np.log(2.0**-106) / np.log(_POLES[call["order"]])) + 1
    found: Reaches = [Reach()] * ndim
    found[call["axis"]] = Reach(depth, call["mode"] == "grid-wrap")
    return found
