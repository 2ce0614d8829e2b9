"""Measure an attribute that follows the current backend, beside an empty ``__getattr__``.

    python tools/bench/attributes.py

Python calls a module's ``__getattr__`` only after its own lookup has failed, which takes most of
the time. All are measured in turns in one process, and the medians of the rounds count.
"""

from __future__ import annotations

import sys
import timeit
from statistics import median
from types import ModuleType

from spatch_core import BackendSystem
from spatch_core.switching import Switch, attributes

NUMBER, REPEATS, ROUNDS = 2000, 20, 9


def modules() -> dict[str, ModuleType]:
    """Return modules that have an attribute `value`."""
    backend = {
        "name": "jax",
        "primary_types": ["jax:Array"],
        "attributes": {"following:value": "math:pi"},
    }
    system = BackendSystem(None, "FOLLOWING", backends=[backend])
    plain, empty, following = map(ModuleType, ("plain", "empty", "following"))
    vars(plain)["value"] = None
    vars(empty)["__getattr__"] = lambda name: None
    sys.modules["following"] = following
    vars(following)["__getattr__"] = attributes(system, "following")[0]
    Switch(system).set_backend("jax")
    return {"a global": plain, "an empty __getattr__": empty, "an attribute": following}


def measure(module: ModuleType) -> float:
    """Return the best time of a read, in microseconds."""
    read = timeit.Timer("module.value", globals={"module": module})
    return min(read.repeat(REPEATS, NUMBER)) / NUMBER * 1e6


def main() -> None:
    """Measure in turns, and print a table."""
    found = modules()
    rounds = [{name: measure(module) for name, module in found.items()} for _ in range(ROUNDS)]
    for name in found:
        time = median(each[name] for each in rounds)
        ratio = median(each[name] / each["an empty __getattr__"] for each in rounds)
        sys.stdout.write(f"{name:20}  {time:5.2f} us  {ratio:5.2f} times an empty __getattr__\n")


if __name__ == "__main__":
    main()
