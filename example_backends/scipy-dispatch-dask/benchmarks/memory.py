"""Filter an array several times larger than the memory of all workers together.

    python benchmarks/memory.py [--limit 400] [--times 4]
    DASK_ARRAY__RECHUNK__METHOD=p2p python benchmarks/memory.py --only fft2

Two worker processes of ``dask.distributed`` generate the array block by block. A worker that
exceeds its memory limit is terminated. Prints, for each case, the time and the largest resident
set of any worker, or that the case did not finish.
"""

# ruff: noqa: T201 - it prints what it finds

from __future__ import annotations

import argparse
import os
import platform
import resource
import time
from math import ceil, sqrt
from typing import TYPE_CHECKING

import dask
import dask.array as da
import numpy as np
from distributed import Client, KilledWorker, LocalCluster
from scipy import signal as scipy_signal

from scipy_dispatch import fft, ndimage, signal

if TYPE_CHECKING:
    from collections.abc import Callable

WORKERS = 2
SIDE = 1000
MEGABYTE = 10**6
SOS = scipy_signal.butter(4, 0.2, output="sos")

# Each case reduces the filtered array, so that the result is small.
CASES: dict[str, Callable[[da.Array], da.Array]] = {
    "gaussian_filter": lambda x: ndimage.gaussian_filter(x, 3).mean(),
    "median_filter": lambda x: ndimage.median_filter(x, 3).max(),
    "gaussian_filter, sobel, maximum_filter": lambda x: ndimage.maximum_filter(
        ndimage.sobel(ndimage.gaussian_filter(x, 3)), 7
    ).mean(),
    "sosfilt along the first axis": lambda x: abs(signal.sosfilt(SOS, x, axis=0)).mean(),
    "fft2": lambda x: abs(fft.fft2(x)).max(),
}


def peak() -> tuple[int, int]:
    """Return the id of this process and the largest resident set that it has had, in bytes."""
    return os.getpid(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Run every case on a new cluster."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=int, default=400, help="megabytes for each worker")
    parser.add_argument("--times", type=float, default=4, help="array to memory of all workers")
    parser.add_argument("--only", help="a part of the names of the cases to run")
    options = parser.parse_args()
    wanted = options.times * WORKERS * options.limit * MEGABYTE
    blocks = ceil(sqrt(wanted / 8) / SIDE)
    side = blocks * SIDE
    print(f"Python {platform.python_version()}, Dask {dask.__version__}, NumPy {np.__version__}")
    print(f"{WORKERS} workers of {options.limit} MB and one thread")
    print(f"{side} x {side} float64: {side * side * 8 / MEGABYTE:.0f} MB in blocks of {SIDE}")
    print()
    print("| call | seconds | largest resident set of a worker | before |")
    print("|---|---|---|---|")
    for name, function in CASES.items():
        if (options.only or "") in name:
            _run(name, function, side, options.limit * MEGABYTE)


def _run(name: str, function: Callable[[da.Array], da.Array], side: int, limit: int) -> None:
    # Chunks of lines have at most this size; Dask's default would be a third of the memory.
    settings = {"array.chunk-size": limit // 80}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            memory_limit=limit,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(__import__, "scipy_dispatch_dask.ndimage")
        idle = dict(client.run(peak).values())
        x = da.random.default_rng(0).random((side, side), chunks=SIDE)
        start = time.perf_counter()
        try:
            client.compute(function(x)).result(timeout=600)
        except (KilledWorker, TimeoutError) as error:
            print(f"| `{name}` | {type(error).__name__} | | |", flush=True)
            return
        seconds = time.perf_counter() - start
        busy = dict(client.run(peak).values())
        assert busy.keys() == idle.keys(), "a worker was ended, and replaced by another one"
    most, least = (max(each.values()) / MEGABYTE for each in (busy, idle))
    print(f"| `{name}` | {seconds:.0f} | {most:.0f} MB | {least:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
