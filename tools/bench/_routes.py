"""The ways to make the same call: arrays of several kinds, under several options."""

from __future__ import annotations

import logging
import math
import os
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench._work import Array, Case

    Runner = Callable[[], Any]


class NotOfferedError(Exception):
    """The backend does not take this call, for its own reason."""


class Route:
    """A way to make calls; the base class is SciPy itself, on a NumPy array."""

    name = "scipy"
    title = "SciPy"
    kind = "numpy"
    """The kind of its arrays, by which cases have tolerances."""
    needs: tuple[str, ...] = ()
    """The distributions that it needs."""

    def why_not(self) -> str | None:
        """Return the reason why it cannot be used here; None if it can."""
        missing = (each for each in self.needs if find_spec(each.replace("-", "_")) is None)
        return next((f"{each} is not installed" for each in missing), None)

    def open(self) -> None:
        """Start the processes or threads that it needs."""

    def close(self) -> None:
        """End the processes or threads that `open` started."""

    def given(self, array: Array) -> Any:
        """Return the array in the form for this route's calls; this is not timed."""
        return array

    def runner(self, case: Case, array: Any) -> Runner:
        """Return a function that makes the call and returns when all values are computed.

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


def leaves(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


class Dispatched(Route):
    """scipy_dispatch; each subclass is a backend."""

    name = backend = "default"
    title = "scipy_dispatch"
    prioritize = ""
    needs: tuple[str, ...] = ("scipy-dispatch",)

    def arguments(self, case: Case) -> dict[str, Any]:
        return case.arguments

    def runner(self, case: Case, array: Any) -> Runner:
        library = import_module("scipy_dispatch")
        import_module(f"scipy_dispatch.{case.function.partition('.')[0]}")
        function: Any = case.function_of(library)
        if self.backend not in ("default", *function.backends):
            raise NotOfferedError("it does not have the function")

        def options() -> Any:
            opts = library.backend_opts
            return opts(prioritize=self.prioritize) if self.prioritize else nullcontext()

        def call(*args: Any, **keywords: Any) -> Any:
            with options():
                return function(*args, **keywords)

        arguments = self.arguments(case)
        with options():
            explanation = function.explain(array, **arguments)
        if explanation.selected != self.backend:
            own = [each for each in explanation.backends if each.backend == self.backend]
            reasons = ", ".join(str(each.reason) for each in own)
            raise NotOfferedError(reasons or f"{explanation.selected} answers")
        return self.waiting(call, array, arguments)

    def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Runner:
        """Return a function that makes the call and waits for the result."""
        return lambda: function(array, **arguments)


class Threads(Dispatched):
    name = title = backend = prioritize = "threads"
    needs = ("scipy-dispatch-threads",)


class DaskThreads(Dispatched):
    """Dask's own threads, from a NumPy array to a NumPy array."""

    name = kind = backend = "dask"
    title = "Dask, threads"
    needs = ("scipy-dispatch-dask",)

    def given(self, array: Array) -> Any:
        return import_module("dask.array").from_array(array, chunks=chunks(array.shape), name=False)

    def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Runner:
        compute = import_module("dask.base").compute
        options = {"scheduler": "threads", "num_workers": cores()}
        return lambda: compute(*leaves(function(array, **arguments)), **options)


class DaskProcesses(Dispatched):
    """Two worker processes with one thread each; blocks and results stay in the processes."""

    name = "processes"
    title = "Dask, 2 processes"
    kind = backend = "dask"
    needs = ("scipy-dispatch-dask", "distributed")

    def open(self) -> None:
        self._distributed = import_module("distributed")
        self._cluster = self._distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        )
        self._client = self._distributed.Client(self._cluster)

    def close(self) -> None:
        self._client.close()
        self._cluster.close()

    def given(self, array: Array) -> Any:
        da = import_module("dask.array")
        delayed = import_module("dask.delayed").delayed
        sizes = da.core.normalize_chunks(chunks(array.shape), array.shape)
        blocks = np.empty([len(each) for each in sizes], object)
        places = da.core.slices_from_chunks(sizes)
        for index, place in zip(np.ndindex(blocks.shape), places, strict=True):
            block = np.ascontiguousarray(array[place])
            (future,) = self._client.scatter([block], hash=False)
            blocks[index] = da.from_delayed(delayed(future), block.shape, array.dtype)
        lazy = da.block(blocks.tolist()).persist()
        self._distributed.wait(lazy)
        return lazy

    def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Runner:
        def run() -> Any:
            result = self._client.persist(leaves(function(array, **arguments)))
            self._distributed.wait(result)
            return tuple(result)

        return run

    def fetched(self, result: Any) -> list[Array]:
        return [np.asarray(each) for each in self._client.compute(list(result), sync=True)]


class Jax(Dispatched):
    """Under `jax.jit`; an array on JAX's own device, compiled before it is timed."""

    name = kind = backend = "jax"
    title = "JAX, jitted"
    needs = ("jax", "scipy-dispatch-jax")

    def given(self, array: Array) -> Any:
        jax = import_module("jax")
        return jax.block_until_ready(jax.numpy.asarray(array))

    def arguments(self, case: Case) -> dict[str, Any]:
        # Windows and structures are constants of the compiled function; arrays are data.
        asarray = import_module("jax.numpy").asarray
        data = {
            name: asarray(value)
            for name, value in case.arguments.items()
            if isinstance(value, np.ndarray) and value.dtype != bool
        }
        return {**case.arguments, **data}

    def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Runner:
        jax = import_module("jax")
        compiled = jax.jit(lambda given: function(given, **arguments))
        return lambda: jax.block_until_ready(compiled(array))


class Cupy(Dispatched):
    """An array on the GPU, which stays there."""

    name = kind = backend = "cupy"
    title = "CuPy"
    needs = ("scipy-dispatch-cupy",)

    def why_not(self) -> str | None:
        missing = super().why_not() if find_spec("cupy") else "cupy is not installed"
        if missing:
            return missing
        runtime = import_module("cupy").cuda.runtime
        try:
            runtime.getDeviceCount()
        except runtime.CUDARuntimeError as error:
            return f"there is no device: {error}"
        return None

    def given(self, array: Array) -> Any:
        return import_module("cupy").asarray(array)

    def arguments(self, case: Case) -> dict[str, Any]:
        arrays = {k: self.given(v) for k, v in case.arguments.items() if isinstance(v, np.ndarray)}
        return {**case.arguments, **arrays}

    def waiting(self, function: Any, array: Any, arguments: dict[str, Any]) -> Runner:
        stream = import_module("cupy").cuda.get_current_stream

        def run() -> Any:
            result = function(array, **arguments)
            stream().synchronize()
            return result

        return run

    def fetched(self, result: Any) -> list[Array]:
        return [import_module("cupy").asnumpy(each) for each in leaves(result)]


ROUTES: tuple[type[Route], ...] = (Route, Threads, DaskThreads, DaskProcesses, Jax, Cupy)


def chunks(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the length of blocks for about eight blocks per core, on two cores."""
    each = 4 if len(shape) == 2 else 2
    return tuple(max(math.ceil(length / each), min(length, 64)) for length in shape)


def cores() -> int:
    return getattr(os, "process_cpu_count", os.cpu_count)() or 1
