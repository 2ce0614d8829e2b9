"""The cost of each function for an element, and so the size from which threads pay."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

from spatch_core.backend_utils import warn_caller

VARIABLE = "SCIPY_DISPATCH_THREADS_COSTS"
"""The environment variable that holds the name of a file with costs of another machine."""

WORTH = 6e6
"""The nanoseconds of SciPy's work from which sharing it pays, also on a busy machine."""


def read_costs(path: Path) -> dict[str, float]:
    """Read a file of costs. An empty one has none: the shell empties it before costs are measured.

    Raises `OSError` or `ValueError` if the file cannot be used.
    """
    content = path.read_text(encoding="utf-8").strip()
    costs = json.loads(content) if content else {}
    if not isinstance(costs, dict) or not all(
        isinstance(cost, int | float) and 0 < cost < math.inf for cost in costs.values()
    ):
        raise ValueError("it is not an object of positive numbers")
    return costs


def costs_of_environment(name: str) -> dict[str, float]:
    """Read the costs of the user's machine; warn about a file that cannot be used and ignore it."""
    try:
        return read_costs(Path(name))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        message = (
            f"{VARIABLE}={name!r} is ignored: {reason}. Measure costs with "
            "python -m scipy_dispatch_threads.measure"
        )
        warn_caller(message, RuntimeWarning, "scipy_dispatch")
        return {}


COSTS = read_costs(Path(__file__).with_name("costs.json"))
"""Those measured for the package, and then the user's."""
if os.environ.get(VARIABLE):
    COSTS |= costs_of_environment(os.environ[VARIABLE])

SMALLEST = {name: math.ceil(WORTH / cost) for name, cost in COSTS.items()}
"""The number of elements, by function, from which threads pay."""
