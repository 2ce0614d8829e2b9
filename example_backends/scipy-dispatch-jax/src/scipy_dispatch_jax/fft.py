"""Discrete Fourier transforms of `scipy_dispatch.fft`; importing it registers all its functions."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from . import _cosine  # noqa: F401  # it registers its functions
from ._arrays import as_inexact
from ._implement import Call, implements, require
from ._jax import Array, jax, jnp
from ._lengths import OPPOSITE, axes_and_lengths, refuse_settings, resized

# The kind of each transform, and whether it is a forward one.
_TRANSFORMS = {
    "fft": ("complex to complex", True),
    "ifft": ("complex to complex", False),
    "rfft": ("real to complex", True),
    "irfft": ("complex to real", False),
    "hfft": ("complex to real", True),
    "ihfft": ("real to complex", False),
}


def _along(x: Array, axes: tuple[int, ...], norm: Any, is_forward: bool) -> Array:
    # JAX transforms at most three axes at once.
    for start in range(0, len(axes), 3):
        some = axes[start : start + 3]
        x = (jnp.fft.fftn if is_forward else jnp.fft.ifftn)(x, axes=some, norm=norm)
    return x


@partial(jax.jit, static_argnames="how")
def _transformed(x: Array, how: tuple[Any, ...]) -> Array:
    kind, is_forward, axes, lengths, norm = how
    if kind == "complex to complex":
        return _along(resized(x, axes, lengths), axes, norm, is_forward)
    *others, last = axes
    if kind == "real to complex":
        norm = norm if is_forward else OPPOSITE[norm]
        x = jnp.fft.rfft(resized(x, axes, lengths), axis=last, norm=norm)
        x = _along(x, tuple(others), norm, True)
        return x if is_forward else x.conj()
    norm = OPPOSITE[norm] if is_forward else norm
    x = resized(x.conj() if is_forward else x, axes, (*lengths[:-1], lengths[-1] // 2 + 1))
    x = _along(x, tuple(others), norm, False)
    return jnp.fft.irfft(x, n=lengths[-1], axis=last, norm=norm)


def _refuse_halves(call: Call) -> str | None:
    if getattr(call, "s", 0) is None and 1 in jnp.shape(call.x):
        return "x= has an axis of one element; pass s= to say how many there are to be"
    return refuse_settings(call)


def _register(name: str, kind: str, is_forward: bool) -> None:
    is_half = kind == "complex to real"

    def function(call: Call) -> Array:
        axes, lengths = axes_and_lengths(call, is_half)
        x = as_inexact(call.x)
        if not axes and kind == "complex to complex":
            return x
        require(axes)
        return _transformed(x, (kind, is_forward, axes, lengths, call.norm))

    arrays = "x:bifh" if kind == "real to complex" else "x"
    refuse = _refuse_halves if is_half else refuse_settings
    globals()[name] = implements("fft", arrays, refuse, name)(function)


for _name, (_kind, _is_forward) in _TRANSFORMS.items():
    for _ending in ("", "2", "n"):
        _register(_name + _ending, _kind, _is_forward)


def _axes(call: Call) -> Any:
    return None if call.axes is None else tuple(map(operator.index, np.atleast_1d(call.axes)))


@implements("fft", "x")
def fftshift(call: Call) -> Array:
    return jnp.fft.fftshift(call.x, axes=_axes(call))


@implements("fft", "x")
def ifftshift(call: Call) -> Array:
    return jnp.fft.ifftshift(call.x, axes=_axes(call))
