"""The axes, lengths and data types of transforms."""

from __future__ import annotations

import operator
import os

import numpy as np

from ._arrays import dtype_of, is_complex
from ._jax import Array, jnp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._implement import Call


def axes_of(call: Call) -> tuple[Any, Any]:
    """Return `s` and `axes` of a transform along one axis or several."""
    if not hasattr(call, "n"):
        return call.s, call.axes
    axis = operator.index(call.axis)
    if call.n is not None and operator.index(call.n) < 1:
        raise ValueError(f"invalid number of data points ({call.n}) specified")
    if not -np.ndim(call.x) <= axis < np.ndim(call.x):
        raise IndexError(f"axis {axis} is out of range")
    return None if call.n is None else (operator.index(call.n),), (axis,)


def axes_and_lengths(
    x: Array, s: Any, axes: Any, is_half: bool = False
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes of a transform as non-negative numbers, and the length along each.

    Parameters
    ----------
    x : jax.Array
        The array to be transformed.
    s : int or sequence of int, optional
        The lengths; None or -1 stand for the array's own length.
    axes : int or sequence of int, optional
        The axes. By default the last ones, as many as `s` has lengths, or all without `s`.
    is_half : bool, optional
        Whether the array is half of a symmetric spectrum along the last axis.
    """
    given = None if s is None else _integers(s, "s")
    if axes is None:
        if given is not None and len(given) > x.ndim:
            raise ValueError("shape requires more axes than are present")
        axes = tuple(range(x.ndim if given is None else len(given)))
        axes = tuple(axis + x.ndim - len(axes) for axis in axes)
    else:
        axes = _integers(axes, "axes")
        if any(not -x.ndim <= axis < x.ndim for axis in axes):
            raise ValueError("axes exceeds dimensionality of input")
        axes = tuple(axis % x.ndim for axis in axes)
        if len(set(axes)) != len(axes):
            raise ValueError("all axes must be unique")
        if given is not None and len(given) != len(axes):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
    lengths = [x.shape[axis] for axis in axes]
    if is_half and lengths:
        lengths[-1] = 2 * (lengths[-1] - 1)
    if given is not None:
        # -1 stands for the array's own length, even if the array is half of a spectrum.
        lengths = [x.shape[a] if n == -1 else n for a, n in zip(axes, given, strict=True)]
    if any(length < 1 for length in lengths):
        raise ValueError(f"invalid number of data points ({lengths}) specified")
    return axes, tuple(lengths)


def _integers(values: Any, name: str) -> tuple[int, ...]:
    if np.ndim(values) > 1:
        raise ValueError(f"{name} must be a scalar or iterable of integers")
    try:
        return tuple(map(operator.index, np.atleast_1d(values)))
    except TypeError:
        raise ValueError(f"{name} must be a scalar or iterable of integers") from None


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
    workers = call.workers
    if workers is not None and not (
        workers == operator.index(workers) != 0 and workers >= -(os.cpu_count() or 1)
    ):
        return "workers= is no number of threads"
    name = "n" if hasattr(call, "n") else "s"
    lengths = getattr(call, name)
    if lengths is not None and np.any(np.asarray(lengths) == 0):
        return f"{name}= has a length of 0, which SciPy takes for another one in some functions"
    if getattr(call, "orthogonalize", None) is not None and is_complex(dtype_of(call.x)):
        return "x= is complex, for which some releases of SciPy ignore orthogonalize="
    return None


def refuse_halves(call: Call) -> str | None:
    """Also reject a half spectrum with one element along an axis, for which the length is 0."""
    if getattr(call, "s", 0) is None and 1 in jnp.shape(call.x):
        return "x= has an axis of one element; pass s= to say how many there are to be"
    return refuse_settings(call)
