"""Implementations in terms of NumPy's functions, which JAX has as well."""

from __future__ import annotations

from typing import Any

from . import creation, indexing, layers, linear, pointwise, reductions, windows


def register(environment: Any, xp: Any) -> None:
    """Register all of them for an array library."""
    for each in (pointwise, creation, reductions, indexing, linear, windows, layers):
        each.register(environment, xp)
