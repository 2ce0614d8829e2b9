"""Set up environments in .check/ and run every test and check of the project in them.

    python3 tools/check.py                     # all of it
    python3 tools/check.py --only types core   # some steps
    python3 tools/check.py --list              # their names

Needs Python 3.10 or newer and a package index; changes nothing outside .check/ but the
caches of the tools. What has not changed since the last run is not installed again.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - the one who runs this may not know
    sys.exit("This needs Python 3.10 or newer; this is Python " + sys.version.split()[0])

import argparse
import os
import re
import shutil
import subprocess
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from _progress import Progress
from _steps import Checks, Command, Step
from _workshop import ROOT, SetupError, Workshop, clean_environment

if TYPE_CHECKING:
    from pathlib import Path


class CheckError(Exception):
    """A command of a step failed; the text says how, with what it printed."""


@dataclass
class Totals:
    """Counts of tests, from the reports that pytest writes."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, report: Path) -> None:
        for suite in ET.parse(report).iter("testsuite"):
            tests, *others = (
                int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")
            )
            self.failed += others[0] + others[1]
            self.skipped += others[2]
            self.passed += tests - sum(others)


class Runner:
    """Runs steps and remembers how they went."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.tests = Totals()
        self.results: list[tuple[Step, bool, float]] = []

    def run(self, step: Step) -> None:
        """Run every command of `step`, also those after one that fails."""
        print(f"\n=== {step.name}: {step.title}", flush=True)
        start = time.monotonic()
        passed = True
        try:
            if step.side_by_side:
                with ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
                    passed = all([*pool.map(self._passes, step.commands())])
            else:
                for command in step.commands():
                    passed &= self._passes(command)
        except SetupError as error:
            passed = False
            print(error, flush=True)
        self.results.append((step, passed, time.monotonic() - start))

    def _passes(self, command: Command) -> bool:
        try:
            self._run_command(command)
        except CheckError as error:
            print(error, flush=True)
            return False
        return True

    def _run_command(self, command: Command) -> None:
        log = self.workshop.log(re.sub(r"[^\w.]+", "-", command.title))
        shown = command.report is not None
        with self.workshop.progress.task(command.title, quiet=shown):
            code = _run_logged(command, log, shown)
            if command.report is not None and command.report.exists():
                self.tests.add(command.report)
            text = log.read_text(encoding="utf-8", errors="replace")
            output = "" if shown else text.rstrip() + "\n"
            if code != command.code:
                raise CheckError(
                    f"{output}{command.title} ended with code {code}, not {command.code}"
                )
            if command.says not in text:
                raise CheckError(f"{output}{command.title} did not print {command.says!r}")

    def summary(self) -> str:
        """Return a table of the steps, then the totals, each on a line of its own."""
        lines = ["", "=== summary"]
        for step, passed, seconds in self.results:
            lines.append(f"{step.name:<10} {'ok' if passed else 'FAILED':<7} {seconds:6.1f} s")
        failed = [step.name for step, passed, _ in self.results if not passed]
        if failed:
            lines += ["", f"again: python3 tools/check.py --only {' '.join(failed)}"]
            lines += [f"logs: {self.workshop.folder / 'logs'}"]
        tests = self.tests
        lines += [
            "",
            f"steps: {len(self.results) - len(failed)} passed, {len(failed)} failed",
            f"tests: {tests.passed} passed, {tests.failed} failed, {tests.skipped} skipped",
        ]
        return "\n".join(lines)


def _run_logged(command: Command, log: Path, shown: bool) -> int:
    process = subprocess.Popen(
        command.arguments,
        cwd=command.folder,
        env={**clean_environment(), **command.variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
    )
    assert process.stdout is not None
    with process, log.open("wb") as output:
        for chunk in iter(partial(process.stdout.read, 65536), b""):
            output.write(chunk)
            if shown:
                sys.stdout.buffer.write(chunk)
                sys.stdout.flush()
    return process.returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="STEP", help="run these steps alone")
    parser.add_argument("--list", action="store_true", help="print the names of the steps")
    parser.add_argument("--fresh", action="store_true", help="make every environment anew")
    options = parser.parse_args()

    progress = Progress()
    if options.fresh:
        shutil.rmtree(ROOT / ".check", ignore_errors=True)
    try:
        workshop = Workshop(ROOT / ".check", progress)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    checks = Checks(workshop)
    steps = checks.steps()
    for name in options.only or ():
        if not any(step.is_named(name) for step in steps):
            parser.error(f"no step {name!r}; steps are: {', '.join(step.name for step in steps)}")
    if options.only:
        steps = [step for step in steps if any(step.is_named(name) for name in options.only)]
    if options.list:
        print("\n".join(f"{step.name:<10} {step.title}" for step in steps))
        return 0

    found = ", ".join(each.name for each in workshop.interpreters)
    progress.say(f"{len(steps)} steps; Python {found} found; {checks.main.name} runs most of them")
    runner = Runner(workshop)
    try:
        for step in steps:
            runner.run(step)
    except KeyboardInterrupt:
        print("\ninterrupted", flush=True)
        return 130
    finally:
        print(runner.summary(), flush=True)
    return 0 if all(passed for _, passed, _ in runner.results) else 1


if __name__ == "__main__":
    sys.exit(main())
