"""The results of the comparison on a GPU, as a Markdown table."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Report:
    """The largest difference for each function and kind of data, and the deferred calls."""

    rows: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, kind: str, difference: float) -> None:
        """Record a difference, relative to the largest value of the result."""
        self.rows[name, kind].append(difference)

    def text(self) -> str:
        """Return the table, with the environment of the comparison."""
        import cupy
        import scipy

        properties = cupy.cuda.runtime.getDeviceProperties(0)
        name = properties["name"]
        device = name.decode() if isinstance(name, bytes) else name
        capability = f"{properties['major']}.{properties['minor']}"
        runtime = cupy.cuda.runtime
        versions = {
            "CuPy": cupy.__version__,
            "CUDA runtime": runtime.runtimeGetVersion(),
            "driver": runtime.driverGetVersion(),
            "NumPy": np.__version__,
            "SciPy": scipy.__version__,
        }
        lines = [
            f"Device: {device}, compute capability {capability}",
            ", ".join(f"{key} {value}" for key, value in versions.items()),
            "",
            "| function | type | calls | largest difference |",
            "|---|---|---|---|",
        ]
        for (function, kind), differences in sorted(self.rows.items()):
            worst = max(differences)
            value = "exact" if worst == 0 else f"{worst:.1e}"
            lines.append(f"| `{function}` | {kind} | {len(differences)} | {value} |")
        return "\n".join(lines)


REPORT = Report()
