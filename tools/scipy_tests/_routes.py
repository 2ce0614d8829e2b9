"""Routes: conversion of the arrays of SciPy's tests for a backend, and of its results."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Array = np.ndarray[Any, np.dtype[Any]]

BACKENDS = Path(__file__).resolve().parents[2] / "example_backends"
_NUMBERS = "?bBhHiIlLqQfdFD"
"""The data types that all array packages support."""


class Route:
    """A route to a backend: converts arguments to its arrays, and results back to NumPy arrays.

    The base class leads to the default implementations, with NumPy arrays and default options.
    This is what users get who only change an import.
    """

    name = "default"
    """The name of the backend that should run."""
    folder = ""
    """The folder that contains its ``tests/tolerances.py``."""
    is_scipy = True
    """Whether SciPy computes the result, so that bits, warnings and errors must be identical."""
    scale_of_data = False
    """Whether its tolerances are relative to the largest value of the data if that is larger."""

    def prepare(self) -> None:
        """Import and configure the backend."""

    def asking(self) -> AbstractContextManager[object]:
        """Return the context manager for calls."""
        return nullcontext()

    def ways(self) -> Iterator[Callable[[Array], Any] | None]:
        """Yield functions that convert a NumPy array to the route's; None keeps the array."""
        yield None

    def takes(self, array: Array) -> bool:
        """Return whether the route supports the array's data type."""
        return array.dtype.char in _NUMBERS and array.dtype.isnative

    def fetched(self, value: Any) -> Any:
        """Convert one of the route's arrays to NumPy; return other values unchanged."""
        return value


class Asked(Route):
    """A route with NumPy arrays that prioritizes the backend."""

    def asking(self) -> AbstractContextManager[object]:
        from scipy_dispatch import backend_opts

        options: AbstractContextManager[object] = backend_opts(prioritize=self.name)
        return options


class Threads(Asked):
    name = "threads"

    def prepare(self) -> None:
        policy = import_module("scipy_dispatch_threads._split").Policy
        # Split the arrays of tests although they are small.
        table = import_module("scipy_dispatch_threads._table").TABLE
        table.update({name: each._replace(smallest=0) for name, each in table.items()})
        policy.current = staticmethod(lambda _: policy(workers=3, smallest=0, slabs=3))


class Dask(Route):
    name = "dask"
    folder = "scipy-dispatch-dask"
    is_scipy = False

    def prepare(self) -> None:
        import_module("dask.array")

    def ways(self) -> Iterator[Callable[[Array], Any] | None]:
        import dask.array as da

        def cut(array: Array, axes: slice) -> Any:
            chunks = list(array.shape)
            chunks[axes] = [-(-length // 2) for length in chunks[axes]]
            # Dask's annotations allow only a single number here.
            wanted: Any = tuple(chunks)
            return da.from_array(array.copy(), chunks=wanted)

        # Chunks: halves along all axes, the first axis or the last axis; finally a single block.
        for axes in (slice(None), slice(1), slice(-1, None), slice(0)):
            yield partial(cut, axes=axes)

    def fetched(self, value: Any) -> Any:
        from dask.base import is_dask_collection

        if not is_dask_collection(value):
            return value
        array = np.asarray(value.compute(scheduler="synchronous"))
        known = [length for length in value.shape if length == length]
        if array.dtype != value.dtype or (len(known) == value.ndim and array.shape != value.shape):
            raise AssertionError(
                f"it said {value.dtype} {value.shape}, and is {array.dtype} {array.shape}"
            )
        return array


class Jax(Route):
    name = "jax"
    folder = "scipy-dispatch-jax"
    is_scipy = False
    scale_of_data = True
    calls = 0

    def prepare(self) -> None:
        import_module("jax").config.update("jax_enable_x64", True)

    def ways(self) -> Iterator[Callable[[Array], Any] | None]:
        import jax
        import jax.numpy as jnp

        yield jnp.array
        # Each program that JAX compiles keeps memory maps, of which Linux gives a process 65,530;
        # without one, the compiler crashes.
        self.calls += 1
        if self.calls % 500 == 0:
            jax.clear_caches()

    def fetched(self, value: Any) -> Any:
        import jax

        return np.array(value) if isinstance(value, jax.Array) else value


ROUTES: dict[str, type[Route]] = {each.name: each for each in (Route, Threads, Dask, Jax)}
