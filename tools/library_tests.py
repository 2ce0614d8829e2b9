"""Run a library's own tests in a process of its own, and compare the outcomes of two runs.

For the tools of the examples. The module is a plugin of pytest, too, which writes the outcomes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

OUTCOMES = "LIBRARY_TESTS_OUTCOMES"

_outcomes: dict[str, str] = {}


def pytest_runtest_logreport(report: Any) -> None:
    """Note the outcome of a test: of its call, or of what failed or skipped it before or after."""
    if report.when == "call" or report.outcome != "passed":
        _outcomes[report.nodeid] = "xfailed" if hasattr(report, "wasxfail") else report.outcome


def pytest_sessionfinish(session: Any) -> None:
    """Write the outcomes, unless another process collects them."""
    if OUTCOMES in os.environ and not hasattr(session.config, "workerinput"):
        Path(os.environ[OUTCOMES]).write_text(json.dumps(_outcomes))


def run(
    package: str,
    tests: Sequence[str],
    options: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    root: Path | None = None,
) -> tuple[dict[str, str], str]:
    """Run tests of an installed package; return the outcome of each, and what pytest prints.

    Their identifiers are relative to `root`, by default the folder in which the package lies.
    """
    if root is None:
        found = find_spec(package)
        assert found is not None
        assert found.origin is not None
        root = Path(found.origin).parents[1]
        tests = ["--pyargs", *tests]
    else:
        tests = [f"{root}/{each}" for each in tests]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "outcomes.json"
        path = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        settings = {OUTCOMES: str(file), "PYTHONPATH": os.pathsep.join(path), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
        command += ["-c", os.devnull, f"--rootdir={root}", "-p", "library_tests", *options]
        process = subprocess.run(
            [*command, *tests],
            cwd=folder,
            env={**os.environ, **settings, **(variables or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if process.returncode not in (0, 1):
            raise RuntimeError(f"pytest ended with code {process.returncode}:\n{process.stdout}")
        outcomes: dict[str, str] = json.loads(file.read_text())
    return outcomes, process.stdout


def differences(
    first: Mapping[str, str], second: Mapping[str, str], expected: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the tests that pass in the first run alone, or in both though expected to fail."""
    expected = expected or {}
    found = {
        test: second.get(test, "not run")
        for test, outcome in first.items()
        if outcome == "passed" and (second.get(test) == "passed") == (test in expected)
    }
    absent = dict.fromkeys(expected, "expected to fail, and not passing in the first run")
    return found | {test: text for test, text in absent.items() if first.get(test) != "passed"}


def counts(outcomes: Mapping[str, str]) -> str:
    """Return how many tests have each outcome, such as ``2 failed, 7 passed``."""
    counter = Counter(outcomes.values())
    return ", ".join(f"{counter[each]} {each}" for each in sorted(counter))
