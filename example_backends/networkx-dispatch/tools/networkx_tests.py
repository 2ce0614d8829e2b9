"""Run NetworkX's own tests plainly, through spatch_core, and with conversion in every call.

    python tools/networkx_tests.py                              # all, in three runs
    python tools/networkx_tests.py networkx.algorithms.flow     # those of some packages
    python tools/networkx_tests.py --backend=parallel           # NetworkX's dispatching, and this

Each test that passes in the first run must pass in the other runs, except those that
``expected_failures.json`` names for conversion; of these each must fail.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "tools"))

import library_tests

EXPECTED = Path(__file__).parent / "expected_failures.json"
CONVERSION = {"NETWORKX_DISPATCH_PRIORITIZE": "roundtrip", "NETWORKX_CACHE_CONVERTED_GRAPHS": ""}
"""NetworkX's tests write into graphs behind the back of the cache, and it turns it off for them."""
# Not the tests of whether NetworkX's own dispatching refuses its test backend.
NOT_RUN = ["-k", "not nx_loopback"]
SHIM = [*NOT_RUN, "-p", "networkx_dispatch"]
RUNS: dict[str, tuple[list[str], dict[str, str]]] = {
    "plain": (NOT_RUN, {}),
    "shim": (SHIM, {}),
    "conversion": (SHIM, CONVERSION),
}
"""The options of pytest and the environment variables of each run."""


def add_runs(backend: str) -> list[str]:
    """Add the runs with an installed backend: by NetworkX's own dispatching, and by this one."""
    theirs = {"NETWORKX_TEST_BACKEND": backend, "NETWORKX_FALLBACK_TO_NX": "1"}
    these = CONVERSION | {"NETWORKX_DISPATCH_PRIORITIZE": backend, "NETWORKX_DISPATCH_TRACE": "1"}
    RUNS[f"{backend} by NetworkX"] = NOT_RUN, theirs
    RUNS[f"{backend} here"] = [*SHIM, "--capture=no"], these
    return list(RUNS)[-2:]


def run(name: str, tests: Sequence[str]) -> dict[str, str]:
    """Run tests in one of the `RUNS`; return the outcome of each."""
    options, variables = RUNS[name]
    outcomes, printed = library_tests.run("networkx", tests, options, variables)
    backend = variables.get("NETWORKX_DISPATCH_PRIORITIZE")
    if "NETWORKX_DISPATCH_TRACE" in variables and f"-> {backend} called" not in printed:
        raise RuntimeError(f"no call has run on {backend}:\n{printed}")
    return outcomes


def expected_failures() -> dict[str, str]:
    """Return the tests that conversion makes fail, with the reason of each."""
    groups: dict[str, list[str]] = json.loads(EXPECTED.read_text())
    return {test: reason for reason, tests in groups.items() for test in tests}


def main(given: Sequence[str]) -> int:
    """Run all, print the counts and the differences; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--backend")
    arguments = parser.parse_args(given)
    first: dict[str, str] = {}
    code = 0
    for name in add_runs(arguments.backend) if arguments.backend else list(RUNS):
        started = time.monotonic()
        outcomes = run(name, arguments.tests or ["networkx"])
        took = time.monotonic() - started
        sys.stdout.write(f"{name}: {library_tests.counts(outcomes)} in {took:.0f} s\n")
        first = first or outcomes
        expected = expected_failures() if name == "conversion" else {}
        if arguments.tests:
            expected = {test: reason for test, reason in expected.items() if test in first}
        for test, outcome in library_tests.differences(first, outcomes, expected).items():
            sys.stdout.write(f"  {test}: {outcome}\n")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
