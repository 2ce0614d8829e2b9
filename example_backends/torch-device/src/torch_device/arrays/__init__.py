"""Implementations in terms of NumPy's functions, which JAX has as well."""

from __future__ import annotations

from typing import Any

from . import (
    convolution,
    creation,
    indexing,
    linear,
    losses,
    normalization,
    pointwise,
    polynomials,
    pooling,
    randomness,
    recurrent,
    reductions,
    resampling,
    searching,
    special,
)


def register(environment: Any, xp: Any) -> None:
    """Register all of them for an array library."""
    first = (pointwise, creation, reductions, indexing, linear)
    networks = (convolution, pooling, normalization, losses, recurrent)
    for each in (*first, *networks, resampling, searching, randomness, polynomials, special):
        each.register(environment, xp)
