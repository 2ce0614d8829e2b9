"""Recursive filters of `scipy_dispatch.signal`, as scans along the signal."""

from __future__ import annotations

from functools import partial

import numpy as np

from ._arrays import dtype_of, is_complex, is_floating, is_integer, is_jax, promoted
from ._axes import one_axis
from ._convolution import by_products
from ._implement import Call, implements
from ._jax import Array, jax, jnp, lax
from ._stft import ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UNROLLED = 8


def _type(call: Call) -> np.dtype[Any]:
    names = ("b", "a", "sos", "x", "zi")
    given = (getattr(call, name, None) for name in names)
    return promoted(*(dtype_of(each) for each in given if each is not None))


def _refuse(call: Call) -> str | None:
    dtype = _type(call)
    if 0 in jnp.shape(call.x):
        return "x= has no elements"
    if not (is_floating(dtype) or is_complex(dtype)) or dtype.itemsize < 4 or dtype.kind == "V":
        return f"the filter is of {dtype}, and SciPy takes single and double precision"
    if getattr(call, "padtype", None) == "odd" and is_integer(dtype_of(call.x)):
        return "padtype='odd' of integers: SciPy's differences leave their range; pass floats"
    if getattr(call, "method", "pad") == "gust":
        return "method='gust' is not implemented"
    return None


def _coefficients(call: Call, dtype: Any) -> tuple[Any, Any]:
    """Return the numerator and denominator, padded to one length if both have more than one."""
    b, a = (jnp.atleast_1d(jnp.asarray(each)).astype(dtype) for each in (call.b, call.a))
    if b.ndim != 1 or a.ndim != 1 or not b.size or not a.size:
        raise ValueError("b and a are to be lines of at least one element")
    if not is_jax(call.a) and np.atleast_1d(call.a)[0] == 0:
        raise ValueError("a[0] is zero")
    b, a = b / a[0], a / a[0]
    if a.size > 1:
        count = max(b.size, a.size)
        b, a = (jnp.pad(each, (0, count - each.size)) for each in (b, a))
    return b, a


@partial(jax.jit)
def _recursive(b: Array, a: Array, x: Array, state: Array) -> tuple[Array, Array]:
    """Filter along the first axis (direct form II transposed); `state` has an axis in front."""

    def column(line: Array) -> Array:
        return line.reshape(-1, *(1,) * (x.ndim - 1))

    def step(state: Array, x: Array) -> tuple[Array, Array]:
        y = state[0] + b[0] * x
        state = jnp.concatenate([state[1:], jnp.zeros_like(state[:1])])
        return state + column(b[1:]) * x[None] - column(a[1:]) * y[None], y

    state, y = lax.scan(step, state, x, unroll=_UNROLLED)
    return y, state


def _filtered(b: Array, a: Array, x: Array, state: Array) -> tuple[Array, Array]:
    """Return a signal that is filtered along its first axis, and the state at its end."""
    if a.size > 1:
        return _recursive(b, a, x, state)
    y = by_products(x, b.reshape(-1, *(1,) * (x.ndim - 1)), "full")
    y = y.at[: state.shape[0]].add(state)
    return y[: x.shape[0]], y[x.shape[0] :]


@implements("signal", "b a x zi", _refuse)
def lfilter(call: Call) -> Any:
    """Differentiable for the coefficients, too."""
    dtype, x = _type(call), jnp.asarray(call.x)
    b, a = _coefficients(call, dtype)
    axis = one_axis(call.axis, x.ndim)
    moved = jnp.moveaxis(x, axis, 0).astype(dtype)
    shape = (b.size - 1, *moved.shape[1:])
    state = jnp.zeros(shape, dtype)
    if call.zi is not None:
        zi = jnp.asarray(call.zi).astype(dtype)
        if zi.ndim != x.ndim:
            raise ValueError("Dimensions of parameters x and zi must match")
        state = jnp.broadcast_to(jnp.moveaxis(zi, axis, 0), shape)
    y, state = _filtered(b, a, moved, state)
    y, state = jnp.moveaxis(y, 0, axis), jnp.moveaxis(state, 0, axis)
    return y if call.zi is None else (y, state)


def _steady(b: Array, a: Array) -> Array:
    """Return the state after a long step of height 1; of a filter with ``a[0] == 1``."""
    count = max(b.size, a.size)
    b, a = (jnp.pad(each, (0, count - each.size)) for each in (b, a))
    return jnp.flip(jnp.cumsum(jnp.flip(b - b.sum() / a.sum() * a)))[1:]


@partial(jax.jit, static_argnames=("edge", "kind"))
def _back_and_forth(x: Array, sections: Any, edge: int, kind: Any) -> Array:
    """Filter along the first axis in both directions, starting from steady states."""
    y = jnp.moveaxis(ends(jnp.moveaxis(x, 0, -1), edge, kind), -1, 0)
    for _ in range(2):
        gain: Any = 1
        height = y[0]
        for b, a in sections:
            state = _steady(b, a) * gain
            state = state.reshape(-1, *(1,) * (y.ndim - 1)) * height[None]
            y, _ = _filtered(b, a, y, state)
            gain = gain * b.sum() / a.sum()
        y = jnp.flip(y, 0)
    return y[edge : y.shape[0] - edge]


def _both_ways(call: Call, sections: Any, taps: int, dtype: Any) -> Array:
    if call.padtype not in ("even", "odd", "constant", None):
        raise ValueError(f"Unknown value '{call.padtype}' given to padtype.")
    x = jnp.asarray(call.x)
    axis = one_axis(call.axis, x.ndim)
    edge = 3 * taps if call.padlen is None else call.padlen
    edge = 0 if call.padtype is None else edge
    if x.shape[axis] <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, {edge}")
    moved = jnp.moveaxis(x, axis, 0).astype(dtype)
    return jnp.moveaxis(_back_and_forth(moved, sections, edge, call.padtype), 0, axis)


@implements("signal", "b a x", _refuse)
def filtfilt(call: Call) -> Array:
    """Differentiable for the coefficients, too."""
    dtype = _type(call)
    taps = max(jnp.size(call.b), jnp.size(call.a))
    return _both_ways(call, [_coefficients(call, dtype)], taps, dtype)


def _sections(call: Call, dtype: Any) -> list[tuple[Array, Array]]:
    sos = jnp.asarray(call.sos)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError("sos must be of shape (n_sections, 6)")
    if not is_jax(call.sos) and not (np.asarray(call.sos)[:, 3] == 1).all():
        raise ValueError("sos[:, 3] should be all ones")
    return [(row[:3], row[3:]) for row in sos.astype(dtype)]


@implements("signal", "sos x zi", _refuse)
def sosfilt(call: Call) -> Any:
    """Differentiable for the sections, too."""
    dtype, x = _type(call), jnp.asarray(call.x)
    sections, axis = _sections(call, dtype), one_axis(call.axis, x.ndim)
    y = jnp.moveaxis(x, axis, 0).astype(dtype)
    shape = (len(sections), 2, *y.shape[1:])
    states = jnp.zeros(shape, dtype)
    if call.zi is not None:
        states = jnp.moveaxis(jnp.asarray(call.zi).astype(dtype), axis + 1, 1)
        if states.shape != shape:
            raise ValueError(f"Invalid zi shape, which is not {shape} for axis 0")
    last = []
    for (b, a), state in zip(sections, states, strict=True):
        y, state = _filtered(b, a, y, state)
        last.append(state)
    y = jnp.moveaxis(y, 0, axis)
    return y if call.zi is None else (y, jnp.moveaxis(jnp.stack(last), 1, axis + 1))


@implements("signal", "x", _refuse)
def sosfiltfilt(call: Call) -> Array:
    """The sections must be known, because they decide how far signals are extended."""
    sos, dtype = np.asarray(call.sos), _type(call)
    sections = _sections(call, dtype)
    taps = 2 * len(sos) + 1 - min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())
    return _both_ways(call, sections, int(taps), dtype)
