"""The cost of each function for an element, and so the size from which threads pay."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

VARIABLE = "SCIPY_DISPATCH_THREADS_COSTS"
"""The environment variable that holds the name of a file with costs of another machine."""

WORTH = 6e6
"""The nanoseconds of SciPy's work from which sharing it pays, also on a busy machine."""

_OWN = Path(__file__).with_name("costs.json")


def smallest_of(costs: dict[str, float]) -> dict[str, int]:
    """Return the numbers of elements from which threads pay.

    Examples
    --------
    >>> smallest_of({"sobel": 4.0})
    {'sobel': 1500000}
    """
    return {name: math.ceil(WORTH / cost) for name, cost in costs.items()}


def read() -> dict[str, float]:
    """Read the costs, in nanoseconds: those measured for the package, then the user's."""
    costs: dict[str, float] = {}
    for path in (_OWN, os.environ.get(VARIABLE)):
        if path:
            costs |= json.loads(Path(path).read_text(encoding="utf-8"))
    return costs


SMALLEST = smallest_of(read())
"""The number of elements, by function, from which threads pay."""
