"""Discrete Fourier, sine and cosine transforms of `scipy_dispatch.fft`."""

from __future__ import annotations

import operator
import os
from functools import partial
from math import sqrt
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ._arrays import as_inexact, dtype_of, is_complex, some_axes, times_line
from ._calls import Arguments, implements, require

OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The norm of the inverse transform."""


def axes_and_lengths(
    call: Arguments, is_half: bool = False
) -> tuple[tuple[int, ...], tuple[int, ...]]:
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


def refuse_settings(call: Arguments) -> str | None:
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


_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


# The first transforms of each type are twice the sums of cosines of
# π (place + shift) (frequency + shift) / length, with the shifts of the places and frequencies.
_COSINES = {1: (0, 0), 2: (0.5, 0), 3: (0, 0.5), 4: (0.5, 0.5)}
_SINES = {1: (1, 1), 2: (0.5, 1), 3: (1, 0.5), 4: (0.5, 0.5)}


def _along_the_last_axis(
    x: Array, kind: str, type: int, norm: str | None, orthogonalize: bool
) -> Array:
    """Return the transform of real numbers along the last axis."""
    is_sine = kind == "dst"
    x = _weighted(x, is_sine, type, orthogonalize, before=True)
    length = x.shape[-1] + (1 if is_sine else -1) * (type == 1)
    y = _weighted(_summed(x, is_sine, type, length), is_sine, type, orthogonalize, before=False)
    if norm == "forward":
        y = y / (2 * length)
    elif norm == "ortho":
        y = y / sqrt(2 * length)
    return y


def _summed(x: Array, is_sine: bool, type: int, length: int) -> Array:
    """Return twice the sums of cosines or sines, by a Fourier transform of twice the length."""
    places = np.arange(x.shape[-1])
    place, frequency = (_SINES if is_sine else _COSINES)[type]
    # Where the extended line has an element once, and all others twice.
    ends = {1: [] if is_sine else [0, -1], 3: [-1] if is_sine else [0]}.get(type, [])
    x = times_line(x, jnp.asarray(np.where(np.isin(places, places[ends]), 0.5, 1), x.dtype))
    if frequency == 0.5:
        y = jnp.fft.fft(_turned(x, np.pi / length * places / 2), 2 * length)[..., : places.size]
    else:
        y = jnp.fft.rfft(x, 2 * length)[..., frequency : frequency + places.size]
    y = _turned(y, np.pi / length * place * (places + frequency))
    return -2 * y.imag if is_sine else 2 * y.real


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


@partial(jax.jit, static_argnames=("axes", "how"))
def _over_axes(x: Array, axes: tuple[int, ...], how: tuple[Any, ...]) -> Array:
    if is_complex(x.dtype):
        return lax.complex(_over_axes(x.real, axes, how), _over_axes(x.imag, axes, how))
    for axis in axes:
        moved = _along_the_last_axis(jnp.moveaxis(x, axis, -1), *how)
        x = jnp.moveaxis(moved, -1, axis)
    return x


def _refuse_cosine(call: Arguments) -> str | None:
    if call.orthogonalize is not None and is_complex(dtype_of(call.x)):
        return "x= is complex, for which some releases of SciPy ignore orthogonalize="
    return refuse_settings(call)


def _register_cosine(name: str, kind: str, is_inverse: bool) -> None:
    def function(call: Arguments) -> Array:
        type, norm = operator.index(call.type), call.norm
        axes, lengths = axes_and_lengths(call)
        require(type in _INVERSE)
        if is_inverse:
            type, norm = _INVERSE[type], OPPOSITE[norm]
        orthogonalize = norm == "ortho" if call.orthogonalize is None else call.orthogonalize
        require(type != 1 or kind == "dst" or all(length > 1 for length in lengths))
        x = resized(as_inexact(call.x), axes, lengths)
        return _over_axes(x, axes, (kind, type, norm, bool(orthogonalize)))

    globals()[name] = implements("fft", "x", _refuse_cosine, name)(function)


for _kind in ("dct", "dst"):
    for _ending in ("", "n"):
        _register_cosine(_kind + _ending, _kind, False)
        _register_cosine(f"i{_kind}{_ending}", _kind, True)


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
def transformed(x: Array, how: tuple[Any, ...]) -> Array:
    """Return a transform, described by its kind, direction, axes, lengths and norm."""
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


def _refuse_halves(call: Arguments) -> str | None:
    if getattr(call, "s", 0) is None and 1 in jnp.shape(call.x):
        return "x= has an axis of one element; pass s= to say how many there are to be"
    return refuse_settings(call)


def _register(name: str, kind: str, is_forward: bool) -> None:
    is_half = kind == "complex to real"

    def function(call: Arguments) -> Array:
        axes, lengths = axes_and_lengths(call, is_half)
        x = as_inexact(call.x)
        if not axes and kind == "complex to complex":
            return x
        require(axes)
        return transformed(x, (kind, is_forward, axes, lengths, call.norm))

    arrays = "x:bifh" if kind == "real to complex" else "x"
    refuse = _refuse_halves if is_half else refuse_settings
    globals()[name] = implements("fft", arrays, refuse, name)(function)


for _name, (_kind, _is_forward) in _TRANSFORMS.items():
    for _ending in ("", "2", "n"):
        _register(_name + _ending, _kind, _is_forward)


def _axes(call: Arguments) -> Any:
    return None if call.axes is None else tuple(map(operator.index, np.atleast_1d(call.axes)))


@implements("fft", "x")
def fftshift(call: Arguments) -> Array:
    return jnp.fft.fftshift(call.x, axes=_axes(call))


@implements("fft", "x")
def ifftshift(call: Arguments) -> Array:
    return jnp.fft.ifftshift(call.x, axes=_axes(call))
