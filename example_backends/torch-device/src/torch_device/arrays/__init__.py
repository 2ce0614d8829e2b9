"""Implementations in terms of NumPy's functions, which JAX has as well."""

from __future__ import annotations

from typing import Any

from . import (
    creation,
    indexing,
    linear,
    networks,
    pointwise,
    randomness,
    reductions,
    searching,
)


def register(environment: Any, xp: Any) -> None:
    """Register all of them for an array library."""
    modules = (pointwise, creation, reductions, indexing, linear, networks, searching, randomness)
    for each in modules:
        each.register(environment, xp)
    pointwise.register_special(environment, xp)
