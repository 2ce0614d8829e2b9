"""Discrete Fourier transforms of `scipy_dispatch.fft`; importing it registers all its functions."""

from __future__ import annotations

import operator
from functools import partial
from math import prod, sqrt

import numpy as np

from . import _cosine  # noqa: F401  # it registers its functions
from ._arrays import is_complex
from ._implement import implements
from ._jax import Array, jax, jnp
from ._lengths import (
    as_inexact,
    axes_and_lengths,
    one_length,
    refuse_halves,
    refuse_settings,
    resized,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NORMS = {None: "backward", "backward": "backward", "ortho": "ortho", "forward": "forward"}
_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _norm(norm: Any) -> str:
    try:
        return _NORMS[norm]
    except KeyError:
        raise ValueError(
            f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"'
        ) from None


def _scale(norm: str, count: int) -> float:
    """Return the factor of a forward transform, given the product of its lengths."""
    return {"backward": 1.0, "ortho": 1 / sqrt(count), "forward": 1 / count}[norm]


def _scaled(x: Array, factor: float) -> Array:
    return x if factor == 1 else x * factor


@partial(jax.jit, static_argnames=("axes", "norm", "is_forward"))
def _complex_transform(x: Array, axes: tuple[int, ...], norm: str, is_forward: bool) -> Array:
    count = prod(x.shape[axis] for axis in axes)
    # JAX transforms at most three axes at once.
    for start in range(0, len(axes), 3):
        some = axes[start : start + 3]
        x = jnp.fft.fftn(x, axes=some) if is_forward else jnp.fft.ifftn(x, axes=some)
    if is_forward:
        return _scaled(x, _scale(norm, count))
    return _scaled(x, count * _scale(_OPPOSITE[norm], count))


@partial(jax.jit, static_argnames=("axes", "norm"))
def _real_to_complex(x: Array, axes: tuple[int, ...], norm: str) -> Array:
    count = prod(x.shape[axis] for axis in axes)
    x = jnp.fft.rfft(x, axis=axes[-1])
    if len(axes) > 1:
        x = _complex_transform(x, axes[:-1], "backward", True)
    return _scaled(x, _scale(norm, count))


@partial(jax.jit, static_argnames=("axes", "length", "norm"))
def _complex_to_real(x: Array, axes: tuple[int, ...], length: int, norm: str) -> Array:
    count = prod(x.shape[axis] for axis in axes[:-1]) * length
    if len(axes) > 1:
        x = _complex_transform(x, axes[:-1], "backward", False)
    x = jnp.fft.irfft(x, n=length, axis=axes[-1])
    return _scaled(x, count * _scale(_OPPOSITE[norm], count))


def _c2c(x: Any, s: Any, axes: Any, norm: Any, is_forward: bool) -> Array:
    x, norm = as_inexact(x), _norm(norm)
    axes, lengths = axes_and_lengths(x, s, axes)
    if not axes:
        return x
    return _complex_transform(resized(x, axes, lengths), axes, norm, is_forward)


def _r2c(x: Any, s: Any, axes: Any, norm: Any, is_forward: bool) -> Array:
    x, norm = as_inexact(x), _norm(norm)
    if is_complex(x.dtype):
        raise TypeError("x must be a real sequence")
    axes, lengths = axes_and_lengths(x, s, axes)
    if not axes:
        raise ValueError("at least 1 axis must be transformed")
    x = resized(x, axes, lengths)
    if is_forward:
        return _real_to_complex(x, axes, norm)
    return _real_to_complex(x, axes, _OPPOSITE[norm]).conj()


def _c2r(x: Any, s: Any, axes: Any, norm: Any, is_forward: bool) -> Array:
    x, norm = as_inexact(x), _norm(norm)
    axes, lengths = axes_and_lengths(x, s, axes, is_half=True)
    if not axes:
        raise ValueError("at least 1 axis must be transformed")
    length = lengths[-1]
    x = resized(x, axes, (*lengths[:-1], length // 2 + 1))
    if is_forward:
        return _complex_to_real(x.conj(), axes, length, _OPPOSITE[norm])
    return _complex_to_real(x, axes, length, norm)


_TRANSFORMS = {
    "fft": (_c2c, True),
    "ifft": (_c2c, False),
    "rfft": (_r2c, True),
    "irfft": (_c2r, False),
    "hfft": (_c2r, True),
    "ihfft": (_r2c, False),
}


def _one_axis(name: str) -> Any:
    transform, is_forward = _TRANSFORMS[name]

    def function(
        x: Any,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: object = None,
    ) -> Array:
        """Supports tracing and differentiation."""
        return transform(x, *one_length(x, n, axis), norm, is_forward)

    return function


def _some_axes(name: str, default: Any) -> Any:
    transform, is_forward = _TRANSFORMS[name]

    def function(
        x: Any,
        s: Any = None,
        axes: Any = default,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: object = None,
    ) -> Array:
        """Supports tracing and differentiation."""
        return transform(x, s, axes, norm, is_forward)

    return function


def _register(name: str, function: Any) -> None:
    function.__name__ = function.__qualname__ = name
    refuse = refuse_halves if name.startswith(("irfft", "hfft")) else refuse_settings
    globals()[name] = implements(f"scipy_dispatch.fft:{name}", "x", refuse=refuse)(function)


for _name in _TRANSFORMS:
    _register(_name, _one_axis(_name))
    _register(f"{_name}2", _some_axes(_name, (-2, -1)))
    _register(f"{_name}n", _some_axes(_name, None))


@implements("scipy_dispatch.fft:fftshift", "x")
def fftshift(x: Any, axes: Any = None) -> Array:
    """Supports tracing and differentiation."""
    return jnp.fft.fftshift(jnp.asarray(x), axes=_axes(axes))


@implements("scipy_dispatch.fft:ifftshift", "x")
def ifftshift(x: Any, axes: Any = None) -> Array:
    """Supports tracing and differentiation."""
    return jnp.fft.ifftshift(jnp.asarray(x), axes=_axes(axes))


def _axes(axes: Any) -> Any:
    if axes is None:
        return None
    return tuple(map(operator.index, axes if np.iterable(axes) else (axes,)))
