"""Measure how many times faster than SciPy the backend is, with large images.

There is a case for every kind of function.

    python benchmarks/speed.py [--side 4096] [--workers N] [--rounds 5]

The two are timed alternately. The result is the median ratio of the rounds.
"""

# ruff: noqa: T201 - it prints what it finds

from __future__ import annotations

import argparse
import platform
import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from scipy import ndimage as scipy_ndimage

import scipy_dispatch_threads
from scipy_dispatch_threads import ndimage

if TYPE_CHECKING:
    from collections.abc import Callable

CROSS = scipy_ndimage.generate_binary_structure(2, 1)
CASES: list[tuple[str, dict[str, Any]]] = [
    ("gaussian_filter", {"sigma": 3}),
    ("gaussian_filter", {"sigma": 20}),
    ("gaussian_gradient_magnitude", {"sigma": 2}),
    ("uniform_filter", {"size": 9}),
    ("sobel", {}),
    ("convolve", {"weights": np.ones((5, 5))}),
    ("maximum_filter", {"size": 9}),
    ("median_filter", {"size": 5}),
    ("grey_erosion", {"footprint": CROSS}),
    ("grey_opening", {"size": 9}),
    ("white_tophat", {"size": 9}),
    ("morphological_gradient", {"size": 5}),
    ("binary_opening", {"iterations": 2}),
    ("spline_filter", {}),
]


def seconds(function: Callable[..., Any], array: Any, arguments: dict[str, Any]) -> float:
    start = time.perf_counter()
    function(array, **arguments)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    scipy_dispatch_threads.set_workers(options.workers)
    print(
        f"{scipy_dispatch_threads.workers()} workers, {options.side} x {options.side}, "
        f"SciPy {scipy.__version__}, NumPy {np.__version__}, Python {platform.python_version()}"
    )
    values = np.random.default_rng(0).random((options.side, options.side)) * 255
    print("| call | type | SciPy | threads | times |\n|---|---|---|---|---|")
    for name, arguments in CASES:
        for dtype in ("bool",) if name.startswith("binary") else ("float32", "float64"):
            array = values > 100 if dtype == "bool" else values.astype(dtype)
            pairs = [
                [
                    seconds(getattr(each, name), array, arguments)
                    for each in (scipy_ndimage, ndimage)
                ]
                for _ in range(options.rounds)
            ]
            ratio = statistics.median(alone / shared for alone, shared in pairs)
            alone, shared = (1000 * statistics.median(times) for times in zip(*pairs, strict=True))
            shown = ", ".join(
                f"{key}={'...' if np.ndim(value) else value}" for key, value in arguments.items()
            )
            print(
                f"| `{name}({shown})` | {dtype} | {alone:.0f} ms | {shared:.0f} ms | {ratio:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
