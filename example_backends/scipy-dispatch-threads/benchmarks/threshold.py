"""Measure the number of elements from which threads are worthwhile, with square images.

    python benchmarks/threshold.py [--workers N]

Prints, for each function, how many times faster than SciPy it is when it is always shared.
`Policy.smallest` is the size at which the cheapest functions stop being slower.
"""

# ruff: noqa: T201 - it prints what it finds

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import ndimage

import scipy_dispatch_threads
from scipy_dispatch_threads._policy import Policy
from scipy_dispatch_threads._strategy import evaluate
from scipy_dispatch_threads._table import TABLE

if TYPE_CHECKING:
    from collections.abc import Callable

SIDES = [32, 64, 96, 128, 181, 256, 362, 512, 1024]
CASES: list[tuple[str, dict[str, Any]]] = [
    ("grey_erosion", {"footprint": ndimage.generate_binary_structure(2, 1)}),
    ("sobel", {}),
    ("uniform_filter", {"size": 3}),
    ("gaussian_filter", {"sigma": 1}),
    ("maximum_filter", {"size": 5}),
    ("grey_opening", {"size": 5}),
    ("median_filter", {"size": 3}),
]


def seconds(function: Callable[[], Any]) -> float:
    """Return the shortest time of one call over a few rounds of several calls."""
    rounds = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(10):
            function()
        rounds.append((time.perf_counter() - start) / 10)
    return min(rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    scipy_dispatch_threads.set_workers(options.workers)
    workers = scipy_dispatch_threads.workers()
    policy = Policy(workers, smallest=0)
    print("| elements | " + " | ".join(f"`{name}`" for name, _ in CASES) + " |")
    print("|---" * (len(CASES) + 1) + "|")
    for side in SIDES:
        image = np.random.default_rng(0).random((side, side))
        ratios = []
        for name, arguments in CASES:
            function = getattr(ndimage, name)

            def alone() -> Any:
                return function(image, **arguments)  # noqa: B023 - called at once

            def shared() -> Any:
                return evaluate(TABLE[name], function, (image,), arguments, policy)  # noqa: B023

            pairs = [(seconds(alone), seconds(shared)) for _ in range(3)]
            ratios.append(statistics.median(first / second for first, second in pairs))
        print(f"| {side**2} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |", flush=True)


if __name__ == "__main__":
    main()
