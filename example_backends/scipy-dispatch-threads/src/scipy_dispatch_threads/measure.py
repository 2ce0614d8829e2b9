"""Measure what SciPy's functions cost, which decides from which size on threads share a call.

    python -m scipy_dispatch_threads.measure > costs.json
    export SCIPY_DISPATCH_THREADS_COSTS=$PWD/costs.json

The costs are nanoseconds of processor time for an element, with the smallest windows, of the
cheaper of two data types. So they hold on a busy machine too. ``--check`` also prints how many
times faster than SciPy threads are at the sizes that the costs in use decide, and ``--elements
16777216`` at that size; both take an idle machine.
"""

# ruff: noqa: T201 - it prints what it finds

from __future__ import annotations

import argparse
import inspect
import json
import math
import statistics
import sys
import time

import numpy as np
from scipy import ndimage

from . import _strategy
from ._costs import SMALLEST
from ._policy import Policy
from ._table import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ELEMENTS = 2**17
SMALL = {"sigma": 1, "size": 3, "percentile": 50, "rank": 4, "angle": 30}
"""The arguments of cheap calls, by the names of the parameters."""


def cheap_call(name: str, elements: int, dtype: str) -> tuple[Any, dict[str, Any]]:
    """Return an array, or points, of that many elements and further arguments of a cheap call."""
    side = math.isqrt(elements)
    image = np.random.default_rng(0).random((side, side)) * 255
    given = inspect.signature(getattr(ndimage, name)).parameters
    arguments: dict[str, Any] = {key: value for key, value in SMALL.items() if key in given}
    if "weights" in given:
        arguments["weights"] = np.ones([3] * (1 if name.endswith("1d") else 2))
    if name == "map_coordinates":
        rows = side // 2
        arguments.update(coordinates=image[: 2 * rows].reshape(2, rows, side), order=1)
    if name == "rotate":
        side = round(elements ** (1 / 3))
        image = np.random.default_rng(0).random((side, side, side)) * 255
        arguments.update(reshape=False, order=1)
    return (image > 100 if name.startswith("binary") else image.astype(dtype)), arguments


def cost(name: str) -> float:
    """Return the nanoseconds of processor time that a function takes for an element."""
    function, costs = getattr(ndimage, name), []
    for dtype in ("float64", "uint8"):
        array, arguments = cheap_call(name, ELEMENTS, dtype)
        times = [seconds(lambda: function(array, **arguments), time.thread_time) for _ in range(7)]  # noqa: B023
        costs.append(1e9 * statistics.median(times) / ELEMENTS)
    return round(min(costs), 2)


def ratio(name: str, elements: int | None = None, rounds: int = 31) -> float:
    """Return how many times faster threads are than SciPy, by default at the smallest size."""
    function = getattr(ndimage, name)
    array, arguments = cheap_call(name, elements or int(1.05 * SMALLEST[name]), "float64")
    policy = Policy.current(SMALLEST[name])
    shared = _strategy.plan(TABLE[name], function, (array,), arguments, policy)
    if isinstance(shared, str):
        raise ValueError(f"{name} is not shared: {shared}")
    return statistics.median(
        seconds(lambda: function(array, **arguments), time.perf_counter)
        / seconds(shared, time.perf_counter)
        for _ in range(rounds)
    )


def seconds(function: Callable[[], Any], clock: Callable[[], float]) -> float:
    """Return the time of one call."""
    start = clock()
    function()
    return clock() - start


def main() -> None:
    """Print the costs as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m scipy_dispatch_threads.measure", description=__doc__.partition("\n")[0]
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="also compare threads with SciPy, at the size from which each function is shared",
    )
    parser.add_argument(
        "--elements", type=int, help="also compare threads with SciPy, for arrays of this size"
    )
    options = parser.parse_args()
    print(json.dumps({name: cost(name) for name in TABLE}, indent=1))
    for name in TABLE if options.check or options.elements else ():
        found = ratio(name, options.elements, 5 if options.elements else 31)
        times = f"{found:.2f} times SciPy's speed at {options.elements or SMALLEST[name]} elements"
        print(f"{name}: {times}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
