"""The ways to make the same call: arrays of several kinds, under several options."""

from __future__ import annotations

import logging
import math
import os
from contextlib import nullcontext
from importlib import import_module, metadata
from importlib.util import find_spec
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from bench._work import Array, Case

    Runner = Callable[[], Any]


class Route:
    """A way to make calls; this one is SciPy itself, on a NumPy array."""

    name = "scipy"
    title = "SciPy"
    kind = "numpy"
    """Of which arrays it takes; cases have tolerances by it."""
    backend = ""
    """Which backend of scipy_dispatch is to answer; none if that is not asked."""
    in_this_process = True
    """Whether this process's processor time is that of the calls."""

    def why_not(self) -> str | None:
        """Say why it cannot be taken here; None if it can."""
        return None

    def open(self) -> None:
        """Start what it needs."""

    def close(self) -> None:
        """End what `open` started."""

    def given(self, array: Array) -> Any:
        """Return the array as this route's calls take it; that is not timed."""
        return array

    def runner(self, case: Case, array: Any) -> Runner:
        """Return what makes the call, and ends when all values are there.

        Raises
        ------
        NotOfferedError
            If another backend would answer.
        """
        function = case.function_of(scipy)
        return lambda: function(array, **case.arguments)

    def fetched(self, result: Any) -> list[Array]:
        """Return the values of a result as NumPy arrays."""
        return [np.asarray(each) for each in leaves(result)]


class NotOfferedError(Exception):
    """The backend does not do this call; the reason is its own."""


def leaves(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


class Dispatched(Route):
    """scipy_dispatch as it is: nothing asked for."""

    name = "default"
    title = "scipy_dispatch"
    backend = "default"
    prioritize = ""
    distribution = "scipy-dispatch"

    def why_not(self) -> str | None:
        return None if _is_installed(self.distribution) else f"{self.distribution} is not installed"

    def options(self) -> AbstractContextManager[Any]:
        from scipy_dispatch import backend_opts

        return backend_opts(prioritize=self.prioritize) if self.prioritize else nullcontext()

    def arguments(self, case: Case) -> dict[str, Any]:
        return case.arguments

    def runner(self, case: Case, array: Any) -> Runner:
        module = case.function.partition(".")[0]
        import_module(f"scipy_dispatch.{module}")
        function: Any = case.function_of(import_module("scipy_dispatch"))
        arguments = self.arguments(case)
        if self.backend not in ("default", *function.backends):
            raise NotOfferedError("it does not have the function")
        with self.options():
            explanation = function.explain(array, **arguments)
        if explanation.selected != self.backend:
            reasons = [
                str(each.reason) for each in explanation.backends if each.backend == self.backend
            ]
            raise NotOfferedError(", ".join(reasons) or f"{explanation.selected} answers")
        return self.waiting(function, array, arguments)

    def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Runner:
        """Return what makes the call and waits for it."""

        def run() -> Any:
            with self.options():
                return function(array, **arguments)

        return run


class Threads(Dispatched):
    name = "threads"
    title = "threads"
    backend = "threads"
    prioritize = "threads"
    distribution = "scipy-dispatch-threads"


class DaskThreads(Dispatched):
    """Dask's own threads, from a NumPy array to a NumPy array."""

    name = "dask"
    title = "Dask, threads"
    kind = "dask"
    backend = "dask"
    distribution = "scipy-dispatch-dask"

    def given(self, array: Array) -> Any:
        import dask.array as da

        blocks: Any = chunks(array.shape)  # dask calls it a str, and takes all forms
        return da.from_array(array, chunks=blocks, name=False)

    def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Runner:
        from dask.base import compute

        def run() -> Any:
            result = leaves(function(array, **arguments))
            return compute(*result, scheduler="threads", num_workers=cores())

        return run


class DaskProcesses(Dispatched):
    """Two worker processes with a thread each; blocks and results stay with them."""

    name = "processes"
    title = "Dask, 2 processes"
    kind = "dask"
    backend = "dask"
    distribution = "scipy-dispatch-dask"
    in_this_process = False

    def why_not(self) -> str | None:
        return super().why_not() or (
            None if _is_installed("distributed") else "distributed is not installed"
        )

    def open(self) -> None:
        distributed = import_module("distributed")
        self._cluster = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        )
        self._client = distributed.Client(self._cluster)

    def close(self) -> None:
        self._client.close()
        self._cluster.close()

    def given(self, array: Array) -> Any:
        import dask.array as da
        from dask.delayed import delayed

        wait = import_module("distributed").wait

        sizes = chunks(array.shape)
        counts = [math.ceil(length / size) for length, size in zip(array.shape, sizes, strict=True)]
        blocks = np.empty(counts, object)
        for index in product(*map(range, counts)):
            place = tuple(
                slice(number * size, (number + 1) * size)
                for number, size in zip(index, sizes, strict=True)
            )
            block = np.ascontiguousarray(array[place])
            (future,) = self._client.scatter([block], hash=False)
            blocks[index] = da.from_delayed(delayed(future), block.shape, array.dtype)
        lazy = da.block(blocks.tolist()).persist()
        wait(lazy)
        return lazy

    def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Runner:
        wait = import_module("distributed").wait

        def run() -> Any:
            result = self._client.persist(leaves(function(array, **arguments)))
            wait(result)
            return tuple(result)

        return run

    def fetched(self, result: Any) -> list[Array]:
        return [np.asarray(each) for each in self._client.compute(list(result), sync=True)]


class Jax(Dispatched):
    """Under `jax.jit`; an array on JAX's own device, compiled before it is timed."""

    name = "jax"
    title = "JAX, jitted"
    kind = "jax"
    backend = "jax"
    distribution = "scipy-dispatch-jax"

    def why_not(self) -> str | None:
        missing = None if find_spec("jax") else "jax is not installed"
        return missing or super().why_not()

    def given(self, array: Array) -> Any:
        jax = import_module("jax")

        return jax.block_until_ready(jax.numpy.asarray(array))

    def arguments(self, case: Case) -> dict[str, Any]:
        jax = import_module("jax")

        # A window or a structure decides what is compiled; what is added up is data.
        return {
            name: jax.numpy.asarray(value) if _is_data(value) else value
            for name, value in case.arguments.items()
        }

    def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Runner:
        jax = import_module("jax")

        compiled = jax.jit(lambda given: function(given, **arguments))
        return lambda: jax.block_until_ready(compiled(array))


class Cupy(Dispatched):
    """An array on the GPU, which stays there."""

    name = "cupy"
    title = "CuPy"
    kind = "cupy"
    backend = "cupy"
    distribution = "scipy-dispatch-cupy"

    def why_not(self) -> str | None:
        missing = None if find_spec("cupy") else "cupy is not installed"
        missing = missing or super().why_not()
        if missing:
            return missing
        cupy = import_module("cupy")

        try:
            cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            return f"there is no device: {error}"
        return None

    def given(self, array: Array) -> Any:
        cupy = import_module("cupy")

        return cupy.asarray(array)

    def arguments(self, case: Case) -> dict[str, Any]:
        cupy = import_module("cupy")

        return {
            name: cupy.asarray(value) if isinstance(value, np.ndarray) else value
            for name, value in case.arguments.items()
        }

    def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Runner:
        cupy = import_module("cupy")

        def run() -> Any:
            result = function(array, **arguments)
            cupy.cuda.get_current_stream().synchronize()
            return result

        return run

    def fetched(self, result: Any) -> list[Array]:
        cupy = import_module("cupy")

        return [cupy.asnumpy(each) for each in leaves(result)]


ROUTES: tuple[type[Route], ...] = (
    Route,
    Dispatched,
    Threads,
    DaskThreads,
    DaskProcesses,
    Jax,
    Cupy,
)


def chunks(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the length of blocks: about eight for each of two cores."""
    each = 4 if len(shape) == 2 else 2
    return tuple(max(math.ceil(length / each), min(length, 64)) for length in shape)


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_data(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype != bool


def _is_installed(distribution: str) -> bool:
    try:
        metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
