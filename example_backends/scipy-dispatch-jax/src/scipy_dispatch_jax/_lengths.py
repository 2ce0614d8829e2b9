"""The axes, lengths and norms of transforms."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np

from ._axes import some_axes
from ._call import Call
from ._implement import require
from ._jax import Array, jnp

OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The norm of the inverse transform."""


def axes_and_lengths(call: Call, is_half: bool = False) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes of a transform as non-negative numbers, and the length along each.

    The array may be half of a symmetric spectrum along the last axis.
    """
    x = call.x
    s: Any
    given: Any
    if "n" in vars(call):
        require(call.n is None or call.n > 0)
        s, given = None if call.n is None else [call.n], [operator.index(call.axis)]
    else:
        s, given = None if call.s is None else np.atleast_1d(call.s), call.axes
    if s is not None and given is None:
        require(len(s) <= x.ndim)
        given = list(range(x.ndim - len(s), x.ndim))
    axes = some_axes(given, x.ndim)
    lengths = [x.shape[axis] for axis in axes]
    if s is not None:
        # -1 stands for the array's own length, even if the array is half of a spectrum.
        wanted = zip(map(operator.index, s), lengths, strict=True)
        lengths = [own if n == -1 else n for n, own in wanted]
    elif is_half and lengths:
        lengths[-1] = 2 * (lengths[-1] - 1)
    require(call.norm in OPPOSITE and all(length > 0 for length in lengths))
    return axes, tuple(lengths)


def resized(x: Array, axes: tuple[int, ...], lengths: tuple[int, ...]) -> Array:
    """Return `x` truncated or zero-padded to the lengths along the axes."""
    for axis, length in zip(axes, lengths, strict=True):
        if x.shape[axis] > length:
            x = x[(slice(None),) * axis + (slice(length),)]
        elif x.shape[axis] < length:
            widths = [(0, 0)] * x.ndim
            widths[axis] = (0, length - x.shape[axis])
            x = jnp.pad(x, widths)
    return x


def refuse_settings(call: Call) -> str | None:
    """Reject settings that SciPy rejects or interprets in its own way."""
    if getattr(call, "plan", None) is not None:
        return "plan= is for another library"
    workers = 1 if call.workers is None else operator.index(call.workers)
    if not workers or workers < -(os.cpu_count() or 1):
        return "workers= is no number of threads"
    name = "n" if hasattr(call, "n") else "s"
    lengths: Any = getattr(call, name)
    if lengths is not None and np.any(np.asarray(lengths) == 0):
        return f"{name}= has a length of 0, which SciPy takes for another one in some functions"
    return None
