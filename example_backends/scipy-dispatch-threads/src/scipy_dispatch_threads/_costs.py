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

COSTS: dict[str, float] = {}
"""Those measured for the package, and then the user's."""
for path in (Path(__file__).with_name("costs.json"), os.environ.get(VARIABLE)):
    if path:
        COSTS |= json.loads(Path(path).read_text(encoding="utf-8"))

SMALLEST = {name: math.ceil(WORTH / cost) for name, cost in COSTS.items()}
"""The number of elements, by function, from which threads pay."""
