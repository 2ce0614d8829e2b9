"""What the calls of SciPy's tests are made with: arrays for a backend, and back from it."""

from __future__ import annotations

import sys
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
"""The data types that all packages have."""


class Route:
    """A way to a backend: with which arrays it is called, and how the result comes back.

    This one leads to the default implementations, with NumPy's arrays and nothing asked for: what
    everybody gets who changes an import.
    """

    name = "default"
    """Of the backend that is to answer."""
    folder = ""
    """Where its ``tests/tolerances.py`` is."""
    is_scipy = True
    """Whether SciPy computes in the end, so that bits, warnings and errors must be its own."""
    scale_of_data = False
    """Whether its tolerances are relative to the data too, where those are the larger."""

    def prepare(self, *, emulate: bool) -> None:
        """Import what it takes.

        Parameters
        ----------
        emulate : bool
            Whether to have CuPy's kernels run on the processor.
        """

    def asking(self) -> AbstractContextManager[object]:
        """Return the context to call in."""
        return nullcontext()

    def ways(self) -> Iterator[Callable[[Array], Any] | None]:
        """Yield the ways to make an array of its own of one of NumPy's; None for none."""
        yield None

    def takes(self, array: Array) -> bool:
        """Whether it has arrays of such data types."""
        return array.dtype.char in _NUMBERS and array.dtype.isnative

    def fetched(self, value: Any) -> Any:
        """Return NumPy's array for one of its own, and anything else as it is."""
        return value


class Asked(Route):
    """NumPy's arrays, and the backend is asked for."""

    def asking(self) -> AbstractContextManager[object]:
        from scipy_dispatch import backend_opts

        options: AbstractContextManager[object] = backend_opts(prioritize=self.name)
        return options


class Threads(Asked):
    name = "threads"

    def prepare(self, *, emulate: bool) -> None:
        policy = import_module("scipy_dispatch_threads._policy").Policy
        # The arrays of tests are small, and are cut all the same.
        policy.current = staticmethod(lambda: policy(workers=3, smallest=0, slabs=3))


class Dask(Route):
    name = "dask"
    folder = "scipy-dispatch-dask"
    is_scipy = False

    def prepare(self, *, emulate: bool) -> None:
        import_module("dask.array")

    def ways(self) -> Iterator[Callable[[Array], Any] | None]:
        import dask.array as da

        def cut(array: Array, axes: slice) -> Any:
            chunks = list(array.shape)
            chunks[axes] = [-(-length // 2) for length in chunks[axes]]
            # Their types know of one number only.
            wanted: Any = tuple(chunks)
            return da.from_array(array.copy(), chunks=wanted)

        # Halves along all axes, along the first, along the last, and one block.
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

    def prepare(self, *, emulate: bool) -> None:
        import_module("jax").config.update("jax_enable_x64", True)

    def ways(self) -> Iterator[Callable[[Array], Any] | None]:
        import jax.numpy as jnp

        yield jnp.array

    def fetched(self, value: Any) -> Any:
        import jax

        return np.array(value) if isinstance(value, jax.Array) else value


class Cupy(Route):
    name = "cupy"
    folder = "scipy-dispatch-cupy"
    is_scipy = False

    def prepare(self, *, emulate: bool) -> None:
        if emulate:
            sys.path.append(str(BACKENDS / self.folder / "tools"))
            import_module("emulator").install()
        import_module("cupy").zeros(1)

    def ways(self) -> Iterator[Callable[[Array], Any] | None]:
        import cupy

        yield cupy.asarray

    def fetched(self, value: Any) -> Any:
        import cupy

        return value.get() if isinstance(value, cupy.ndarray) else value


class CupyOffload(Asked):
    name = "cupy-offload"
    folder = "scipy-dispatch-cupy"
    is_scipy = False

    def prepare(self, *, emulate: bool) -> None:
        Cupy().prepare(emulate=emulate)
        import_module("scipy_dispatch_cupy").set_smallest(0)


ROUTES: dict[str, type[Route]] = {
    each.name: each for each in (Route, Threads, Dask, Jax, Cupy, CupyOffload)
}
