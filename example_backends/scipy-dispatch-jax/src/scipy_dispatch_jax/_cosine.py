"""Discrete sine and cosine transforms of types 1 to 4, computed by Fourier transforms."""

from __future__ import annotations

import operator
from functools import partial
from math import sqrt

import numpy as np

from ._arrays import as_inexact, is_complex, times_line
from ._implement import Call, implements
from ._jax import Array, jax, jnp, lax
from ._lengths import axes_and_lengths, axes_of, refuse_settings, resized

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_OPPOSITE = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


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


def _transform(
    x: Any, kind: str, type: Any, s: Any, axes: Any, norm: Any, orthogonalize: Any
) -> Array:
    type = operator.index(type)
    is_inverse = kind.startswith("i")
    kind = kind.lstrip("i")
    if type not in _INVERSE:
        raise ValueError("invalid type; must be 1, 2, 3 or 4")
    if norm not in _OPPOSITE:
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"')
    if is_inverse:
        type, norm = _INVERSE[type], _OPPOSITE[norm]
    if orthogonalize is None:
        orthogonalize = norm == "ortho"
    x = as_inexact(x)
    axes, lengths = axes_and_lengths(x, s, axes)
    if type == 1 and kind == "dct" and any(length < 2 for length in lengths):
        raise RuntimeError("zero-length FFT requested")
    x = resized(x, axes, lengths)
    return _over_axes(x, kind, int(type), axes, norm, bool(orthogonalize))


@partial(jax.jit, static_argnames=("kind", "type", "axes", "norm", "orthogonalize"))
def _over_axes(
    x: Array, kind: str, type: int, axes: tuple[int, ...], norm: str | None, orthogonalize: bool
) -> Array:
    if is_complex(x.dtype):
        return lax.complex(
            *(_over_axes(part, kind, type, axes, norm, orthogonalize) for part in (x.real, x.imag))
        )
    for axis in axes:
        moved = jnp.moveaxis(x, axis, -1)
        moved = _along_the_last_axis(moved, kind, type, norm, orthogonalize)
        x = jnp.moveaxis(moved, -1, axis)
    return x


def _register(name: str, kind: str) -> None:
    def function(call: Call) -> Array:
        settings = call.type, *axes_of(call), call.norm, call.orthogonalize
        return _transform(call.x, kind, *settings)

    globals()[name] = implements("fft", "x", refuse_settings, name)(function)


for _kind in ("dct", "idct", "dst", "idst"):
    _register(_kind, _kind)
    _register(f"{_kind}n", _kind)
