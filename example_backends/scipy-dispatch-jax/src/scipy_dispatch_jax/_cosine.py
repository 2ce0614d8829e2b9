"""Discrete sine and cosine transforms of types 1 to 4, computed by Fourier transforms."""

from __future__ import annotations

import operator
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from ._arrays import as_inexact, dtype_of, is_complex, times_line
from ._implement import Call, implements, require
from ._jax import Array, jax, jnp, lax
from ._lengths import OPPOSITE, axes_and_lengths, refuse_settings, resized

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _along_the_last_axis(
    x: Array, kind: str, type: int, norm: str | None, orthogonalize: bool
) -> Array:
    """Return the transform of real numbers along the last axis."""
    count = x.shape[-1]
    is_sine = kind == "dst"
    x = _weighted(x, is_sine, type, orthogonalize, before=True)
    y = (_sine if is_sine else _cosine)(x, type, count)
    y = _weighted(y, is_sine, type, orthogonalize, before=False)
    total = 2 * (count + (1 if is_sine else -1) * (type == 1))
    if norm == "forward":
        y = y / total
    elif norm == "ortho":
        y = y / sqrt(total)
    return y


def _weighted(x: Array, is_sine: bool, type: int, orthogonalize: bool, before: bool) -> Array:
    """Scale the first or last element by a root of 2, which makes the transform orthogonal."""
    if not orthogonalize or type == 4 or (is_sine and type == 1):
        return x
    if type != 1 and before != (type == 3):
        return x
    weights = np.ones(x.shape[-1])
    factor = sqrt(2) if before else 1 / sqrt(2)
    weights[-1 if is_sine else 0] = factor
    if type == 1:
        weights[-1] = factor
    return times_line(x, jnp.asarray(weights, x.dtype))


def _turned(x: Array, angles: np.ndarray) -> Array:
    """Multiply by exp(-i angle), with angles in double precision."""
    dtype = np.complex64 if x.dtype in (np.float32, np.complex64) else np.complex128
    return times_line(x, jnp.asarray(np.exp(-1j * angles), dtype))


def _cosine(x: Array, type: int, count: int) -> Array:
    n = np.arange(count)
    if type == 1:
        # The even extension has a real transform.
        return jnp.fft.rfft(jnp.concatenate([x, x[..., -2:0:-1]], -1)).real
    if type == 2:
        # Even elements forward, then odd elements backward: a transform of the same length
        # suffices.
        x = jnp.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], -1)
        return 2 * _turned(jnp.fft.fft(x), np.pi * n / (2 * count)).real
    if type == 3:
        doubled = jnp.asarray(np.where(n == 0, 1, 2), x.dtype)
        turned = _turned(times_line(x, doubled), np.pi * n / (2 * count))
        return jnp.fft.fft(turned, 2 * count)[..., :count].real
    turned = jnp.fft.fft(_turned(x, np.pi * n / (2 * count)), 2 * count)[..., :count]
    return 2 * _turned(turned, np.pi * (2 * n + 1) / (4 * count)).real


def _sine(x: Array, type: int, count: int) -> Array:
    n = np.arange(count)
    if type == 1:
        zero = jnp.zeros((*x.shape[:-1], 1), x.dtype)
        odd = jnp.concatenate([zero, x, zero, -x[..., ::-1]], -1)
        return -jnp.fft.rfft(odd).imag[..., 1 : count + 1]
    signs = jnp.asarray((-1.0) ** n, x.dtype)
    if type == 2:
        return _cosine(times_line(x, signs), 2, count)[..., ::-1]
    if type == 3:
        return times_line(_cosine(x[..., ::-1], 3, count), signs)
    turned = jnp.fft.fft(_turned(x, np.pi * n / (2 * count)), 2 * count)[..., :count]
    return -2 * _turned(turned, np.pi * (2 * n + 1) / (4 * count)).imag


@partial(jax.jit, static_argnames=("axes", "how"))
def _over_axes(x: Array, axes: tuple[int, ...], how: tuple[Any, ...]) -> Array:
    if is_complex(x.dtype):
        return lax.complex(_over_axes(x.real, axes, how), _over_axes(x.imag, axes, how))
    for axis in axes:
        moved = _along_the_last_axis(jnp.moveaxis(x, axis, -1), *how)
        x = jnp.moveaxis(moved, -1, axis)
    return x


def _refuse(call: Call) -> str | None:
    if call.orthogonalize is not None and is_complex(dtype_of(call.x)):
        return "x= is complex, for which some releases of SciPy ignore orthogonalize="
    return refuse_settings(call)


def _register(name: str, kind: str, is_inverse: bool) -> None:
    def function(call: Call) -> Array:
        type, norm = operator.index(call.type), call.norm
        axes, lengths = axes_and_lengths(call)
        require(type in _INVERSE)
        if is_inverse:
            type, norm = _INVERSE[type], OPPOSITE[norm]
        orthogonalize = norm == "ortho" if call.orthogonalize is None else call.orthogonalize
        require(type != 1 or kind == "dst" or all(length > 1 for length in lengths))
        x = resized(as_inexact(call.x), axes, lengths)
        return _over_axes(x, axes, (kind, type, norm, bool(orthogonalize)))

    globals()[name] = implements("fft", "x", _refuse, name)(function)


for _kind in ("dct", "dst"):
    for _ending in ("", "n"):
        _register(_kind + _ending, _kind, False)
        _register(f"i{_kind}{_ending}", _kind, True)
