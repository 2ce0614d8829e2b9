"""Discrete Fourier transforms of `scipy_dispatch.fft`; importing it registers all its functions."""

from __future__ import annotations

import operator
from functools import partial

import numpy as np

from . import _cosine  # noqa: F401  # it registers its functions
from ._arrays import as_inexact, is_complex
from ._implement import Call, implements
from ._jax import Array, jax, jnp
from ._lengths import (
    axes_and_lengths,
    axes_of,
    refuse_halves,
    refuse_settings,
    resized,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


@partial(jax.jit, static_argnames=("axes", "norm", "is_forward"))
def _complex_transform(x: Array, axes: tuple[int, ...], norm: Any, is_forward: bool) -> Array:
    # JAX transforms at most three axes at once.
    for start in range(0, len(axes), 3):
        some = axes[start : start + 3]
        x = (jnp.fft.fftn if is_forward else jnp.fft.ifftn)(x, axes=some, norm=norm)
    return x


@partial(jax.jit, static_argnames=("axes", "norm"))
def _real_to_complex(x: Array, axes: tuple[int, ...], norm: Any) -> Array:
    return _complex_transform(jnp.fft.rfft(x, axis=axes[-1], norm=norm), axes[:-1], norm, True)


@partial(jax.jit, static_argnames=("axes", "length", "norm"))
def _complex_to_real(x: Array, axes: tuple[int, ...], length: int, norm: Any) -> Array:
    x = _complex_transform(x, axes[:-1], norm, False)
    return jnp.fft.irfft(x, n=length, axis=axes[-1], norm=norm)


def _opposite(norm: Any) -> str:
    if norm not in _OPPOSITE:
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"')
    return _OPPOSITE[norm]


def _c2c(x: Any, s: Any, axes: Any, norm: Any, is_forward: bool) -> Array:
    x, _ = as_inexact(x), _opposite(norm)
    axes, lengths = axes_and_lengths(x, s, axes)
    if not axes:
        return x
    return _complex_transform(resized(x, axes, lengths), axes, norm, is_forward)


def _r2c(x: Any, s: Any, axes: Any, norm: Any, is_forward: bool) -> Array:
    x, opposite = as_inexact(x), _opposite(norm)
    if is_complex(x.dtype):
        raise TypeError("x must be a real sequence")
    axes, lengths = axes_and_lengths(x, s, axes)
    if not axes:
        raise ValueError("at least 1 axis must be transformed")
    x = resized(x, axes, lengths)
    if is_forward:
        return _real_to_complex(x, axes, norm)
    return _real_to_complex(x, axes, opposite).conj()


def _c2r(x: Any, s: Any, axes: Any, norm: Any, is_forward: bool) -> Array:
    x, opposite = as_inexact(x), _opposite(norm)
    axes, lengths = axes_and_lengths(x, s, axes, is_half=True)
    if not axes:
        raise ValueError("at least 1 axis must be transformed")
    length = lengths[-1]
    x = resized(x, axes, (*lengths[:-1], length // 2 + 1))
    if is_forward:
        return _complex_to_real(x.conj(), axes, length, opposite)
    return _complex_to_real(x, axes, length, norm)


_TRANSFORMS = {
    "fft": (_c2c, True),
    "ifft": (_c2c, False),
    "rfft": (_r2c, True),
    "irfft": (_c2r, False),
    "hfft": (_c2r, True),
    "ihfft": (_r2c, False),
}


def _register(name: str, kind: str) -> None:
    transform, is_forward = _TRANSFORMS[kind]
    refuse = refuse_halves if kind in ("irfft", "hfft") else refuse_settings

    def function(call: Call) -> Array:
        return transform(call.x, *axes_of(call), call.norm, is_forward)

    globals()[name] = implements("fft", "x", refuse, name)(function)


for _kind in _TRANSFORMS:
    for _ending in ("", "2", "n"):
        _register(_kind + _ending, _kind)


def _axes(call: Call) -> Any:
    if call.axes is None:
        return None
    return tuple(map(operator.index, call.axes if np.iterable(call.axes) else (call.axes,)))


@implements("fft", "x")
def fftshift(call: Call) -> Array:
    return jnp.fft.fftshift(jnp.asarray(call.x), axes=_axes(call))


@implements("fft", "x")
def ifftshift(call: Call) -> Array:
    return jnp.fft.ifftshift(jnp.asarray(call.x), axes=_axes(call))
