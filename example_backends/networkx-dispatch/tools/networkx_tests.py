"""Run NetworkX's own tests plainly, through spatch_core, and with conversion in every call.

    python tools/networkx_tests.py                              # all, in three runs
    python tools/networkx_tests.py networkx.algorithms.flow     # those of some packages
    python tools/networkx_tests.py --backend=parallel           # NetworkX's dispatching, and this

Each test that passes in the first run must pass in the other runs, except those that
``expected_failures.json`` names for conversion; of these each must fail. The module is a plugin of
pytest, too, which writes the outcomes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

EXPECTED = Path(__file__).parent / "expected_failures.json"
OUTCOMES = "NETWORKX_TESTS_OUTCOMES"
CONVERSION = {"NETWORKX_DISPATCH_PRIORITIZE": "roundtrip", "NETWORKX_CACHE_CONVERTED_GRAPHS": ""}
"""NetworkX's tests write into graphs behind the back of the cache, and it turns it off for them."""
NOT_RUN = "nx_loopback"
"""In the names of tests of NetworkX's own dispatching: whether it refuses its test backend."""
SHIM = ["-p", "networkx_dispatch"]
RUNS: dict[str, tuple[list[str], dict[str, str]]] = {
    "plain": ([], {}),
    "shim": (SHIM, {}),
    "conversion": (SHIM, CONVERSION),
}
"""The options of pytest and the environment variables of each run."""


def add_runs(backend: str) -> list[str]:
    """Add the runs with an installed backend: by NetworkX's own dispatching, and by this one."""
    theirs = {"NETWORKX_TEST_BACKEND": backend, "NETWORKX_FALLBACK_TO_NX": "1"}
    these = CONVERSION | {"NETWORKX_DISPATCH_PRIORITIZE": backend, "NETWORKX_DISPATCH_TRACE": "1"}
    RUNS[f"{backend} by NetworkX"] = [], theirs
    RUNS[f"{backend} here"] = [*SHIM, "--capture=no"], these
    return list(RUNS)[-2:]


_outcomes: dict[str, str] = {}


def pytest_runtest_logreport(report: Any) -> None:
    """Note the outcome of a test: of its call, or of what failed or skipped it before or after."""
    if report.when == "call" or report.outcome != "passed":
        _outcomes[report.nodeid] = "xfailed" if hasattr(report, "wasxfail") else report.outcome


def pytest_sessionfinish() -> None:
    """Write the outcomes."""
    if OUTCOMES in os.environ:
        Path(os.environ[OUTCOMES]).write_text(json.dumps(_outcomes))


def run(name: str, tests: Sequence[str]) -> dict[str, str]:
    """Run tests in one of the `RUNS`; return the outcome of each."""
    options, variables = RUNS[name]
    found = find_spec("networkx")
    assert found is not None
    assert found.origin is not None
    root = Path(found.origin).parents[1]  # the identifiers of the tests are relative to it
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "outcomes.json"
        path = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        settings = {OUTCOMES: str(file), "PYTHONPATH": os.pathsep.join(path), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
        command += ["-c", os.devnull, f"--rootdir={root}", "-p", "networkx_tests", *options]
        command += ["-k", f"not {NOT_RUN}"]
        process = subprocess.run(
            [*command, "--pyargs", *tests],
            cwd=folder,
            env={**os.environ, **settings, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if process.returncode not in (0, 1):
            raise RuntimeError(f"pytest ended with code {process.returncode}:\n{process.stdout}")
        if log := os.environ.get("NETWORKX_TESTS_LOG"):
            Path(log, f"{name}.txt").write_text(process.stdout)
        backend = variables.get("NETWORKX_DISPATCH_PRIORITIZE")
        if "NETWORKX_DISPATCH_TRACE" in variables and f"-> {backend} called" not in process.stdout:
            raise RuntimeError(f"no call has run on {backend}:\n{process.stdout}")
        outcomes: dict[str, str] = json.loads(file.read_text())
    return outcomes


def expected_failures() -> dict[str, str]:
    """Return the tests that conversion makes fail, with the reason of each."""
    groups: dict[str, list[str]] = json.loads(EXPECTED.read_text())
    return {test: reason for reason, tests in groups.items() for test in tests}


def differences(
    plain: dict[str, str], other: dict[str, str], expected: dict[str, str]
) -> dict[str, str]:
    """Return the tests that pass plainly and not otherwise, or pass though they are to fail."""
    found = {
        test: other.get(test, "not run")
        for test, outcome in plain.items()
        if outcome == "passed" and (other.get(test) == "passed") == (test in expected)
    }
    absent = dict.fromkeys(expected, "expected to fail, and not plainly passing")
    return found | {test: text for test, text in absent.items() if plain.get(test) != "passed"}


def main(given: Sequence[str]) -> int:
    """Run all, print the counts and the differences; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--backend")
    arguments = parser.parse_args(given)
    tests = arguments.tests
    known = expected_failures()
    plain: dict[str, str] = {}
    code = 0
    for name in add_runs(arguments.backend) if arguments.backend else list(RUNS):
        started = time.monotonic()
        outcomes = run(name, tests or ["networkx"])
        counts = Counter(outcomes.values())
        took = time.monotonic() - started
        texts = [f"{counts[each]} {each}" for each in sorted(counts)]
        sys.stdout.write(f"{name}: {', '.join(texts)} in {took:.0f} s\n")
        plain = plain or outcomes
        expected = known if name == "conversion" else {}
        here = {test: reason for test, reason in expected.items() if test in plain}
        for test, outcome in differences(plain, outcomes, here if tests else expected).items():
            sys.stdout.write(f"  {test}: {outcome}\n")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
