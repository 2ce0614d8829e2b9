"""What the hardware allows: SciPy in two processes at once, a half of the work each.

No library can be faster on two cores: nothing is shared, nothing put together, and no lock or
pool is in the way. How far this is from 2 is what memory and processor say.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.ndimage
import scipy.signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench._work import Array, Case

MARGIN = 64
"""Rows beside the cut that are not compared: each half ends there."""

_own: dict[str, Any] = {}
"""In each of the two processes, its half and the last result."""


class Halves:
    """Two processes, each with a half of an array."""

    def __init__(self, pools: list[ProcessPoolExecutor], folder: Path) -> None:
        self._pools = pools
        self._file = folder / "array.npy"

    def give(self, array: Array) -> None:
        """Let each process have a half of the array."""
        np.save(self._file, array)
        self._both(_take, self._file)
        self._file.unlink()

    def seconds(self, case: Case) -> tuple[float, list[int]]:
        """Return how long both take at once, and the checksums of their results."""
        start = time.perf_counter()
        self._both(_call, case)
        return time.perf_counter() - start, self._both(_check)

    def _both(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        started = [pool.submit(function, half, *args) for half, pool in enumerate(self._pools)]
        return [each.result() for each in started]


@contextmanager
def two_processes() -> Iterator[Halves]:
    # A process that is started anew finds the modules where this one does.
    sys.path[:] = [str(Path(each).resolve()) for each in sys.path]
    context = multiprocessing.get_context("spawn")
    with TemporaryDirectory() as folder, ExitStack() as stack:
        pools = [stack.enter_context(ProcessPoolExecutor(1, context)) for _ in range(2)]
        yield Halves(pools, Path(folder))


def checksums(result: Array) -> list[int]:
    """Return what the two processes are to return for the whole result."""
    return [_checksum(_part(result, half), half) for half in range(2)]


def _part(array: Array, half: int) -> Array:
    middle = len(array) // 2
    return array[middle:] if half else array[:middle]


def _checksum(part: Array, half: int) -> int:
    margin = min(MARGIN, len(part) * 3 // 4)
    inner = part[margin:] if half else part[:-margin]
    return zlib.crc32(np.ascontiguousarray(inner).view(np.uint8))


def _take(half: int, file: Path) -> None:
    _own["array"] = _part(np.load(file, mmap_mode="r"), half).copy()


def _call(half: int, case: Case) -> None:
    _own.pop("result", None)
    _own["result"] = case.function_of(scipy)(_own["array"], **case.arguments)


def _check(half: int) -> int:
    return _checksum(_own.pop("result"), half)
