"""B-splines of orders 0 to 5: their coefficients, and their weights at a point."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ._arrays import is_complex, times_line
from ._boundary import extended, is_constant, positions
from ._jax import Array, jax, jnp

# The values of a B-spline at 0, 1 and 2, by its order.
_AT_WHOLE = {2: (3 / 4, 1 / 8), 3: (2 / 3, 1 / 6), 4: (115 / 192, 19 / 96, 1 / 384)}
_AT_WHOLE[5] = (11 / 20, 13 / 60, 1 / 120)

# How far SciPy extends an array for boundary modes without exact coefficients.
_PAD = 12


@partial(jax.jit, static_argnames=("order", "axis", "mode"))
def coefficients(x: Array, order: int, axis: int, mode: str) -> Array:
    """Return the coefficients of the spline through the elements of every line.

    SciPy filters every line forward and back. Here the line is extended to a whole period of its
    boundary mode, on which Fourier transforms invert the convolution with a B-spline exactly.
    """
    length = x.shape[axis]
    if order < 2 or length == 1:
        return x
    if is_constant(mode) or mode == "wrap":
        mode = "mirror"
    elif mode == "nearest":
        mode = "reflect"
    period = {"mirror": 2 * length - 2, "grid-wrap": length}.get(mode, 2 * length)
    index = positions(np.arange(period), length, mode)
    line = jnp.moveaxis(jnp.take(x, index.astype(np.int32), axis), axis, -1)
    frequencies = 2 * np.pi * np.arange(period) / period
    first, *others = _AT_WHOLE[order]
    response = first + sum(
        2 * value * np.cos(k * frequencies) for k, value in enumerate(others, start=1)
    )
    if is_complex(x.dtype):
        inverse = jnp.asarray(1 / response, jnp.finfo(x.dtype).dtype)
        line = jnp.fft.ifft(times_line(jnp.fft.fft(line), inverse))
    else:
        inverse = jnp.asarray(1 / response[: period // 2 + 1], x.dtype)
        line = jnp.fft.irfft(times_line(jnp.fft.rfft(line), inverse), period)
    return jnp.moveaxis(line[..., :length], -1, axis)


def prefiltered(x: Array, order: int, mode: str, cval: Any, ndim: int) -> tuple[Array, int]:
    """Return the coefficients along the first `ndim` axes, and by how much these were extended."""
    pad = _PAD if mode in ("nearest", "grid-constant") and order > 1 else 0
    margins = [(pad, pad)] * ndim + [(0, 0)] * (x.ndim - ndim)
    x = extended(x, margins, (mode,) * x.ndim, cval)
    for axis in range(ndim):
        x = coefficients(x, order, axis, mode)
    return x, pad


def weights_at(fraction: Any, order: int) -> list[Any]:
    """Return the weights of the `order` + 1 coefficients around a point (C. de Boor's recursion).

    `fraction` is its position between two knots, from 0 to 1.
    """
    weights = [1 + 0 * fraction]
    for degree in range(1, order + 1):
        carried, raised = 0 * fraction, []
        for number, weight in enumerate(weights):
            part = weight / degree
            raised.append(carried + (number + 1 - fraction) * part)
            carried = (fraction + degree - number - 1) * part
        weights = [*raised, carried]
    return weights
