"""The summary at the end of a run of the checks."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def totals(reports: list[Path]) -> str:
    """Return the counts of tests, from the JUnit reports that pytest writes."""
    suites = [suite for report in reports for suite in ET.parse(report).iter("testsuite")]
    tests, failed, errors, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites)
        for name in ("tests", "failures", "errors", "skipped")
    )
    failed += errors
    return f"{tests - failed - skipped} passed, {failed} failed, {skipped} skipped"


def failures(report: Path) -> Iterator[str]:
    """Yield the name of each test that failed, and the first line of its message."""
    for case in ET.parse(report).iter("testcase"):
        for kind in ("failure", "error"):
            for each in case.iter(kind):
                lines = (each.get("message") or each.text or "").strip().splitlines()
                name = f"{case.get('classname', '')}::{case.get('name', '')}"
                yield f"{kind}: {name}: {lines[0] if lines else 'no message'}"


def summary(folder: Path, missing: list[str]) -> str:
    """Return a table of the steps, the tests that failed, and the totals, one line each.

    Parameters
    ----------
    folder
        Contains ``nox.json``, the report of nox, and the reports of pytest.
    missing
        The versions of Python that were not found.
    """
    lines = ["", "=== summary"]
    failed = []
    sessions = json.loads((folder / "nox.json").read_text(encoding="utf-8"))["sessions"]
    for session in sessions:
        # Neither "success" nor "skipped": "failed" or "aborted".
        passed = session["result_code"] > 0
        if not passed:
            failed.append(session["name"])
        lines.append(
            f"{session['name']:<15} {'ok' if passed else 'FAILED':<7} {session['duration']:6.1f} s"
        )
    if missing and any(session["name"].startswith("core-") for session in sessions):
        lines += [f"left out, because not found: Python {', '.join(missing)}"]
    if failed:
        lines += ["", f"to repeat: python3 tools/check.py --only {' '.join(failed)}"]
    reports = sorted(folder.rglob("*.xml"))
    details = [line for report in reports for line in failures(report)]
    if details:
        lines += ["", *details]
    lines += [
        "",
        f"steps: {len(sessions) - len(failed)} passed, {len(failed)} failed",
        f"tests: {totals(reports)}",
    ]
    return "\n".join(lines)
