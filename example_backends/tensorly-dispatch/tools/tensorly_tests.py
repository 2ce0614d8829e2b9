"""Run TensorLy's own tests with TensorLy's managers of backends, and with these of spatch_core.

    python tools/tensorly_tests.py                                  # all, with NumPy
    python tools/tensorly_tests.py --backend jax tensorly.tenalg    # some, with JAX

Each test that passes with TensorLy's managers must pass with the others.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "tools"))

import library_tests

RUNS = {"TensorLy's": [], "these": ["-p", "tensorly_dispatch"]}
"""The arguments of pytest for each run."""
SLOW = {"jax": "test_tensor_ring_als_sampled_large_decomp"}
"""Tests that are left out: they take more than ten minutes, whatever the manager."""


def run(name: str, tests: Sequence[str], backend: str = "numpy") -> dict[str, str]:
    """Run tests in one of the `RUNS`; return the outcome of each."""
    options = [*RUNS[name], *(["-k", f"not {SLOW[backend]}"] if backend in SLOW else [])]
    return library_tests.run("tensorly", tests, options, {"TENSORLY_BACKEND": backend})[0]


def time_of_processes() -> float:
    """Return the processor's time of all runs so far, in seconds: other programs may run, too."""
    found = os.times()
    return found.children_user + found.children_system


def main(given: Sequence[str]) -> int:
    """Run the tests twice, print the counts and the differences; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", default=["tensorly"])
    parser.add_argument("--backend", default="numpy")
    arguments = parser.parse_args(given)
    found = []
    for name in RUNS:
        started = time_of_processes()
        found.append(run(name, arguments.tests, arguments.backend))
        took = time_of_processes() - started
        counts = library_tests.counts(found[-1])
        sys.stdout.write(f"{name} managers: {counts} in {took:.0f} s of the processor\n")
    different = library_tests.differences(*found)
    for test, outcome in different.items():
        sys.stdout.write(f"  {test}: {outcome}\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
