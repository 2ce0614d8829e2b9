"""What the hardware allows: SciPy in two processes at once, a half of the work each.

No library can be faster on two cores: nothing is shared, nothing put together, and no lock or
pool is in the way. How far this is from 2 is what memory and processor say.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
import zlib
from contextlib import contextmanager, suppress
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.ndimage
import scipy.signal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from bench._work import Array, Case

MARGIN = 64
"""Rows beside the cut that are not compared: each half ends there."""


class Halves:
    """Two processes, each with a half of an array; use as a context manager."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        # A process that is started anew finds the modules where this one does.
        sys.path[:] = [str(Path(each).resolve()) for each in sys.path]
        for _ in range(2):
            pipe, other = context.Pipe()
            process = context.Process(target=_work, args=(other,), daemon=True)
            process.start()
            other.close()
            self._pipes.append(pipe)
            self._processes.append(process)
        self._memory: SharedMemory | None = None

    def give(self, array: Array) -> None:
        """Let each process have a half of the array."""
        self._release()
        self._memory = SharedMemory(create=True, size=array.nbytes)
        shared: Array = np.ndarray(array.shape, array.dtype, self._memory.buf)
        shared[...] = array
        del shared
        for pipe, (low, high) in zip(self._pipes, halves(len(array)), strict=True):
            pipe.send(("take", self._memory.name, array.shape, array.dtype.str, low, high))
        for pipe in self._pipes:
            pipe.recv()

    def seconds(self, case: Case) -> tuple[float, list[int]]:
        """Return how long both take at once, and the checksums of what they made."""
        start = time.perf_counter()
        for pipe in self._pipes:
            pipe.send(("call", case))
        for pipe in self._pipes:
            pipe.recv()  # done
        seconds = time.perf_counter() - start
        return seconds, [pipe.recv() for pipe in self._pipes]

    def close(self) -> None:
        for pipe in self._pipes:
            with suppress(OSError):  # it has ended already
                pipe.send(None)
            pipe.close()
        for process in self._processes:
            process.join()
        self._release()

    def _release(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory.unlink()
            self._memory = None


@contextmanager
def two_processes() -> Iterator[Halves]:
    both = Halves()
    try:
        yield both
    finally:
        both.close()


def halves(length: int) -> list[tuple[int, int]]:
    return [(0, length // 2), (length // 2, length)]


def checksums(result: Array) -> list[int]:
    """Return what the two processes are to return for the whole result."""
    parts = [result[low:high] for low, high in halves(len(result))]
    return [_checksum(part, number == 0) for number, part in enumerate(parts)]


def _checksum(part: Array, is_first: bool) -> int:
    margin = min(MARGIN, len(part) * 3 // 4)
    inner = part[:-margin] if is_first else part[margin:]
    return zlib.crc32(np.ascontiguousarray(inner).view(np.uint8))


def _work(pipe: Connection) -> None:
    """Do what the pipe says, in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other end of the pipe says when it is over
    own: Array = np.empty(0)
    is_first = True
    while (order := pipe.recv()) is not None:
        if order[0] == "take":
            _, name, shape, dtype, low, high = order
            memory = SharedMemory(name)
            whole: Array = np.ndarray(shape, dtype, memory.buf)
            own = whole[low:high].copy()
            is_first = low == 0
            del whole
            memory.close()
            pipe.send(None)
        else:
            case = order[1]
            result = case.function_of(scipy)(own, **case.arguments)
            pipe.send(None)
            pipe.send(_checksum(result, is_first))
            del result
