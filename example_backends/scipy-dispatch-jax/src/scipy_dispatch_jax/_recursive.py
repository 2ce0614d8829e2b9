"""Recursive filters of `scipy_dispatch.signal`, as scans along the signal."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ._arrays import dtype_of, is_integer, is_jax, promoted
from ._axes import one_axis
from ._convolution import by_products
from ._implement import Call, implements, require
from ._jax import Array, jax, jnp, lax

_UNROLLED = 8


def _type(call: Call) -> np.dtype[Any]:
    given = (getattr(call, name, None) for name in ("b", "a", "sos", "x", "zi"))
    return promoted(*(dtype_of(each) for each in given if each is not None))


def _refuse(call: Call) -> str | None:
    if is_integer(_type(call)):
        return "x= is of integers, as the filter is; pass floats"
    if getattr(call, "padtype", None) == "odd" and is_integer(dtype_of(call.x)):
        return "padtype='odd' of integers: SciPy's differences leave their range; pass floats"
    if getattr(call, "method", "pad") == "gust":
        return "method='gust' is not implemented"
    return None


def _coefficients(call: Call, dtype: Any) -> tuple[Any, Any]:
    """Return the numerator and denominator, padded to one length if both have more than one."""
    b, a = (jnp.atleast_1d(jnp.asarray(each)).astype(dtype) for each in (call.b, call.a))
    require(b.ndim == a.ndim == 1 and b.size and a.size)
    require(is_jax(call.a) or np.atleast_1d(call.a)[0] != 0)
    b, a = b / a[0], a / a[0]
    if a.size > 1:
        count = max(b.size, a.size)
        b, a = (jnp.pad(each, (0, count - each.size)) for each in (b, a))
    return b, a


def _beside(line: Array, x: Array) -> Array:
    """Return a line along the first axis of an array."""
    return line.reshape(-1, *(1,) * (x.ndim - 1))


@partial(jax.jit)
def _recursive(b: Array, a: Array, x: Array, state: Array) -> tuple[Array, Array]:
    """Filter along the first axis (direct form II transposed); `state` has an axis in front."""

    def step(state: Array, x: Array) -> tuple[Array, Array]:
        y = state[0] + b[0] * x
        products = _beside(b[1:], state) * x[None] - _beside(a[1:], state) * y[None]
        return jnp.concatenate([state[1:], jnp.zeros_like(state[:1])]) + products, y

    state, y = lax.scan(step, state, x, unroll=_UNROLLED)
    return y, state


def _filtered(b: Array, a: Array, x: Array, state: Array) -> tuple[Array, Array]:
    """Return a signal that is filtered along its first axis, and the state at its end."""
    if a.size > 1:
        return _recursive(b, a, x, state)
    y = by_products(x, _beside(b, x), "full")
    y = y.at[: state.shape[0]].add(state)
    return y[: x.shape[0]], y[x.shape[0] :]


@implements("signal", "x:bifc b:bifc a:bifc zi:bifc", _refuse)
def lfilter(call: Call) -> Any:
    """Differentiable for the coefficients, too."""
    dtype, x = _type(call), call.x
    b, a = _coefficients(call, dtype)
    axis = one_axis(call.axis, x.ndim)
    moved = jnp.moveaxis(x, axis, 0).astype(dtype)
    shape = (b.size - 1, *moved.shape[1:])
    state = jnp.zeros(shape, dtype)
    if call.zi is not None:
        zi = jnp.asarray(call.zi).astype(dtype)
        require(zi.ndim == x.ndim and zi.shape[axis] == b.size - 1)
        state = jnp.broadcast_to(jnp.moveaxis(zi, axis, 0), shape)
    y, state = _filtered(b, a, moved, state)
    y, state = jnp.moveaxis(y, 0, axis), jnp.moveaxis(state, 0, axis)
    return y if call.zi is None else (y, state)


def _steady(b: Array, a: Array) -> Array:
    """Return the state after a long step of height 1; of a filter with ``a[0] == 1``."""
    count = max(b.size, a.size)
    b, a = (jnp.pad(each, (0, count - each.size)) for each in (b, a))
    return jnp.flip(jnp.cumsum(jnp.flip(b - b.sum() / a.sum() * a)))[1:]


def extended(x: Array, count: int, kind: Any) -> Array:
    """Return an array extended at both ends of its first axis."""
    if kind is None or not count:
        return x
    widths = [(count, count)] + [(0, 0)] * (x.ndim - 1)
    if kind in ("constant", "zeros"):
        return jnp.pad(x, widths, {"constant": "edge", "zeros": "constant"}[kind])
    require(kind in ("even", "odd") and count < x.shape[0])
    return jnp.pad(x, widths, "reflect", reflect_type=kind)


@partial(jax.jit, static_argnames=("edge", "kind"))
def _back_and_forth(x: Array, sections: Any, edge: int, kind: Any) -> Array:
    """Filter along the first axis in both directions, starting from steady states."""
    y = extended(x, edge, kind)
    for _ in range(2):
        gain: Any = 1
        height = y[0]
        for b, a in sections:
            y, _ = _filtered(b, a, y, _beside(_steady(b, a) * gain, y) * height[None])
            gain = gain * b.sum() / a.sum()
        y = jnp.flip(y, 0)
    return y[edge : y.shape[0] - edge]


def _both_ways(call: Call, sections: Any, taps: int, dtype: Any) -> Array:
    require(call.padtype in ("even", "odd", "constant", None))
    axis = one_axis(call.axis, call.x.ndim)
    edge = 3 * taps if call.padlen is None else call.padlen
    edge = 0 if call.padtype is None else edge
    require(call.x.shape[axis] > edge)
    moved = jnp.moveaxis(call.x, axis, 0).astype(dtype)
    return jnp.moveaxis(_back_and_forth(moved, sections, edge, call.padtype), 0, axis)


@implements("signal", "x:bifc b:bifc a:bifc", _refuse)
def filtfilt(call: Call) -> Array:
    """Differentiable for the coefficients, too."""
    dtype, taps = _type(call), max(jnp.size(call.b), jnp.size(call.a))
    return _both_ways(call, [_coefficients(call, dtype)], taps, dtype)


def _sections(call: Call, dtype: Any) -> list[tuple[Array, Array]]:
    sos = jnp.asarray(call.sos)
    require(sos.ndim == 2 and sos.shape[1] == 6)
    require(is_jax(call.sos) or (np.asarray(call.sos)[:, 3] == 1).all())
    return [(row[:3], row[3:]) for row in sos.astype(dtype)]


@implements("signal", "x:bifc sos:bifc zi:bifc", _refuse)
def sosfilt(call: Call) -> Any:
    """Differentiable for the sections, too."""
    dtype, x = _type(call), call.x
    sections, axis = _sections(call, dtype), one_axis(call.axis, x.ndim)
    y = jnp.moveaxis(x, axis, 0).astype(dtype)
    shape = (len(sections), 2, *y.shape[1:])
    states = jnp.zeros(shape, dtype)
    if call.zi is not None:
        states = jnp.moveaxis(jnp.asarray(call.zi).astype(dtype), axis + 1, 1)
        require(states.shape == shape)
    last = []
    for (b, a), state in zip(sections, states, strict=True):
        y, state = _filtered(b, a, y, state)
        last.append(state)
    y = jnp.moveaxis(y, 0, axis)
    return y if call.zi is None else (y, jnp.moveaxis(jnp.stack(last), 1, axis + 1))


@implements("signal", "x:bifc", _refuse)
def sosfiltfilt(call: Call) -> Array:
    """The sections must be known, because they decide how far signals are extended."""
    sos, dtype = np.asarray(call.sos), _type(call)
    taps = 2 * len(sos) + 1 - min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())
    return _both_ways(call, _sections(call, dtype), int(taps), dtype)
