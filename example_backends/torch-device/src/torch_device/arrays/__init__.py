"""Implementations in terms of NumPy's functions, which JAX has as well."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import creation, indexing, layers, linear, pointwise, reductions, windows

if TYPE_CHECKING:
    from ..environment import BackendEnvironment


def register(environment: Any, xp: Any) -> None:
    """Register all of them for an array library."""
    for each in (pointwise, creation, reductions, indexing, linear, windows, layers):
        each.register(environment, xp)


def make_environment(device: str, **options: Any) -> BackendEnvironment:
    """Return the device of NumPy's arrays, ``"npy"``, or of JAX's, ``"jax"``."""
    module = {"npy": "numpy_device", "jax": "jax_device"}[device]
    return import_module(f".{module}", __name__).make_environment(**options)  # type: ignore[no-any-return]
