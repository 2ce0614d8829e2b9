"""Compare what dispatching costs with TensorLy's managers of backends and with these.

    python tools/overhead.py

TensorLy's functions exist once in a process, so processes of both kinds take turns, and the best
time of each counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import timeit
from collections.abc import Callable
from typing import Any

ROUNDS = 5
"""How many processes of each kind measure."""


def measure() -> dict[str, float]:
    """Return the time of each operation, in microseconds, in this process."""
    import numpy as np
    import tensorly as tl

    array = np.ones(3)

    def context(local: bool) -> None:
        with tl.backend_context("numpy", local_threadsafe=local):
            pass

    operations: dict[str, Callable[[], Any]] = {
        "np.dot(a, a)": lambda: np.dot(array, array),
        "tl.dot(a, a)": lambda: tl.dot(array, array),
        'with tl.backend_context("numpy")': lambda: context(False),
        'with tl.backend_context("numpy", local_threadsafe=True)': lambda: context(True),
        "tl.float32": lambda: tl.float32,
        "tl.backend.float32": lambda: tl.backend.float32,
        "tl.get_backend()": tl.get_backend,
        'tl.set_backend("numpy")': lambda: tl.set_backend("numpy"),
    }
    number = 500
    return {
        name: min(timeit.repeat(operation, number=number, repeat=100)) / number * 1e6
        for name, operation in operations.items()
    }


def main() -> None:
    """Measure in turns, and print a table."""
    best: list[dict[str, float]] = [{}, {}]
    for _ in range(ROUNDS):
        for kind, module in enumerate(("tensorly", "tensorly_dispatch")):
            command = [sys.executable, __file__, module]
            found = json.loads(subprocess.check_output(command, text=True))
            for name, time in found.items():
                best[kind][name] = min(time, best[kind].get(name, time))
    width = max(map(len, best[0]))
    sys.stdout.write(f"{'microseconds':{width}}  TensorLy's  these  ratio\n")
    for name, theirs in best[0].items():
        these = best[1][name]
        sys.stdout.write(f"{name:{width}}  {theirs:10.2f}  {these:5.2f}  {these / theirs:5.2f}\n")


if __name__ == "__main__":
    if sys.argv[1:]:
        __import__(sys.argv[1])
        sys.stdout.write(json.dumps(measure()))
    else:
        main()
