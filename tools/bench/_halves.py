"""The limit of the hardware: SciPy in two processes at once, each with half of the work.

No library can be faster on two cores: nothing is shared, nothing put together, and no lock or
pool is in the way. How far this is from 2 is what memory and processor say.
"""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.ndimage
import scipy.signal

from bench._routes import NotOfferedError, Route
from bench._work_report import CEILING

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench._routes import Runner
    from bench._work import Array, Case

MARGIN = 64
"""The number of rows beside the cut that are not compared, because each half ends there."""

_own: dict[str, Any] = {}
"""Has, in each of the two processes, its half and the last result."""


class Halves(Route):
    """Two processes, each with half of the array; the results stay in the processes."""

    name = CEILING
    title = "SciPy twice, a half each"
    in_this_process = False

    def open(self) -> None:
        # A new process must find the modules in the same places as this one.
        sys.path[:] = [str(Path(each).resolve()) for each in sys.path]
        context = multiprocessing.get_context("spawn")
        self._pools = [ProcessPoolExecutor(1, context) for _ in range(2)]

    def close(self) -> None:
        for pool in self._pools:
            pool.shutdown()

    def given(self, array: Array) -> Any:
        with TemporaryDirectory() as folder:
            file = Path(folder, "array.npy")
            np.save(file, array)
            self._both(_take, file)

    def runner(self, case: Case, array: Any) -> Runner:
        if not case.is_local:
            raise NotOfferedError("a half of the array does not give a half of the result")
        return lambda: self._both(_call, case)

    def fetched(self, result: Any) -> list[Array]:
        return self._both(_fetch)

    def comparable(self, expected: list[Array]) -> list[Array]:
        return [_inner(_part(expected[0], half), half) for half in range(2)]

    def _both(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        started = [pool.submit(function, half, *args) for half, pool in enumerate(self._pools)]
        return [each.result() for each in started]


def _part(array: Array, half: int) -> Array:
    middle = len(array) // 2
    return array[middle:] if half else array[:middle]


def _inner(part: Array, half: int) -> Array:
    margin = min(MARGIN, len(part) * 3 // 4)
    return part[margin:] if half else part[:-margin]


def _take(half: int, file: Path) -> None:
    _own["array"] = _part(np.load(file), half).copy()


def _call(half: int, case: Case) -> None:
    _own.pop("result", None)
    _own["result"] = case.function_of(scipy)(_own["array"], **case.arguments)


def _fetch(half: int) -> Array:
    return _inner(_own.pop("result"), half)
