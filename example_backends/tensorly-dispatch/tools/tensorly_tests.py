"""Run TensorLy's own tests with TensorLy's managers of backends, and with these of spatch_core.

    python tools/tensorly_tests.py                                  # all, with NumPy
    python tools/tensorly_tests.py --backend jax tensorly.tenalg    # some, with JAX

Each test that passes with TensorLy's managers must pass with the others. The module is a plugin
of pytest, too, which writes the outcomes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

OUTCOMES = "TENSORLY_TESTS_OUTCOMES"
RUNS = {"TensorLy's": [], "these": ["-p", "tensorly_dispatch"]}
"""The arguments of pytest for each run."""
SLOW = {"jax": "test_tensor_ring_als_sampled_large_decomp"}
"""Tests that are left out: they take more than ten minutes, whatever the manager."""

_outcomes: dict[str, str] = {}


def pytest_runtest_logreport(report: Any) -> None:
    """Note the outcome of a test: of its call, or of what failed or skipped it before or after."""
    if report.when == "call" or report.outcome != "passed":
        _outcomes[report.nodeid] = "xfailed" if hasattr(report, "wasxfail") else report.outcome


def pytest_sessionfinish() -> None:
    """Write the outcomes."""
    if OUTCOMES in os.environ:
        Path(os.environ[OUTCOMES]).write_text(json.dumps(_outcomes))


def run(name: str, tests: Sequence[str], backend: str = "numpy") -> dict[str, str]:
    """Run tests in one of the `RUNS`; return the outcome of each."""
    found = find_spec("tensorly")
    assert found is not None
    assert found.origin is not None
    root = Path(found.origin).parents[1]  # the identifiers of the tests are relative to it
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "outcomes.json"
        path = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        settings = {
            OUTCOMES: str(file),
            "PYTHONPATH": os.pathsep.join(path),
            "TENSORLY_BACKEND": backend,
        }
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
        command += ["-c", os.devnull, f"--rootdir={root}", "-p", "tensorly_tests", *RUNS[name]]
        if backend in SLOW:
            command += ["-k", f"not {SLOW[backend]}"]
        process = subprocess.run(
            [*command, "--pyargs", *tests],
            cwd=folder,
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if process.returncode not in (0, 1):
            raise RuntimeError(f"pytest ended with code {process.returncode}:\n{process.stdout}")
        outcomes: dict[str, str] = json.loads(file.read_text())
    return outcomes


def differences(theirs: dict[str, str], these: dict[str, str]) -> dict[str, str]:
    """Return the tests that pass with TensorLy's managers, and not with these."""
    return {
        test: these.get(test, "not run")
        for test, outcome in theirs.items()
        if outcome == "passed" and these.get(test) != "passed"
    }


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
        outcomes = run(name, arguments.tests, arguments.backend)
        took = time_of_processes() - started
        counts = Counter(outcomes.values())
        texts = [f"{counts[each]} {each}" for each in sorted(counts)]
        sys.stdout.write(f"{name} managers: {', '.join(texts)} in {took:.0f} s of the processor\n")
        found.append(outcomes)
    different = differences(*found)
    for test, outcome in different.items():
        sys.stdout.write(f"  {test}: {outcome}\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
