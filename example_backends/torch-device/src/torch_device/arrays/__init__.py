"""Implementations in terms of NumPy's functions, which JAX has as well."""

from __future__ import annotations

from typing import Any

from . import (
    creation,
    indexing,
    linear,
    networks,
    pointwise,
    polynomials,
    randomness,
    reductions,
    resampling,
    searching,
)


def register(environment: Any, xp: Any) -> None:
    """Register all of them for an array library."""
    first = (pointwise, creation, reductions, indexing, linear)
    for each in (*first, networks, resampling, searching, randomness, polynomials):
        each.register(environment, xp)
    pointwise.register_special(environment, xp)
