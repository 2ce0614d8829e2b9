"""Measure the cost of dispatching, beside other dispatchers or beside another version.

    python tools/bench/overhead.py                  # completely, in a minute or two
    python tools/bench/overhead.py --quick          # roughly, in a quarter of that
    python tools/bench/overhead.py --against main   # this checkout beside a revision, or a folder
    python tools/bench/overhead.py --update-docs    # put the run into the docs
    python tools/bench/overhead.py --json 3.12.json # keep the samples, in pyperf's format …
    python tools/bench/overhead.py --replay 3.*.json --update-docs  # … and show several runs

Needs the dependency group `bench`, and a compiler for the C extension. Figures are ratios of
what was measured side by side in one run: the median, with half the distance of the quartiles
beside it. Nothing is asserted, but what cannot be measured makes the exit code 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

_tools, _root = (str(folder) for folder in Path(__file__).resolve().parents[1:3])
sys.path.insert(0, _tools)
if find_spec("spatch_core") is None:  # not installed
    sys.path.append(_root)
if find_spec("pyperf") is None or find_spec("rich") is None:
    sys.exit("This needs the dependency group `bench`: python -m pip install --group bench")

# ruff: noqa: E402 - the path comes first
from rich.console import Console

from bench._figures import MODES, OLD, tables
from bench._fresh import programs
from bench._peers import PEERS
from bench._record import ROOT, Record, describe_machine
from bench._tables import markdown, progress, show, update
from bench._versions import ACCELERATED, Contestant, Worker, stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench._fresh import Program

PAGE = ROOT / "docs" / "explanation" / "what-it-costs.md"
PACKAGES = ("pyperf", "numpy", "uarray", "plum-dispatch", "multipledispatch")
OWN = "raw,bare,partial,spatch"
"""The dispatchers to measure in comparisons, and through C: the others would be the same."""


class Benchmark:
    """Measures contestants side by side; names of samples begin with those of contestants.

    The folder is for distributions and caches; `quick` makes fewer rounds.
    """

    def __init__(
        self, record: Record, contestants: dict[str, Contestant], folder: Path, *, quick: bool
    ) -> None:
        self.record = record
        self.contestants = contestants
        self.folder = folder
        self.quick = quick
        self.is_comparison = any(name.startswith(OLD) for name in contestants)
        self._shuffle = random.Random(0).shuffle

    def steps(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the steps with their titles.

        Where two versions are compared, there are more processes of fewer rounds: which objects
        share a cache line differs from process to process.
        """
        processes = (3 if self.quick else 10) if self.is_comparison else 1 if self.quick else 4
        rounds = {"calls": 8 if self.is_comparison else 25, "around": 4}
        for group, each in rounds.items():
            for seed in range(processes):
                title = f"{group}, process {seed + 1} of {processes}"
                yield title, partial(self._work, group, seed, each // 2 if self.quick else each)
        sizes = (50,) if self.is_comparison else (50, 500)
        for title, compared in programs(self.folder, sizes).items():
            yield title, partial(self._run, compared, 5 if self.quick else 20)

    def _work(self, group: str, seed: int, rounds: int) -> None:
        """Time calls in a process of each contestant; the processes take turns every round."""
        with ExitStack() as stack:
            workers = []
            for name, contestant in self.contestants.items():
                worker = Worker(contestant, group, seed, f"--peers={self._peers(name)}")
                stack.callback(worker.close)
                workers.append((name, worker))
            samples: dict[str, list[float]] = {}
            for _ in range(rounds):
                self._shuffle(workers)
                for name, worker in workers:
                    for case, seconds in worker.times().items():
                        samples.setdefault(f"{name}/{case}", []).append(seconds)
        for name, values in samples.items():
            self.record.samples.setdefault(name, []).append(values)

    def _peers(self, name: str) -> str:
        return OWN if self.is_comparison or name == ACCELERATED else ",".join(PEERS)

    def _run(self, group: list[Program], rounds: int) -> None:
        """Run fresh processes in turn; the first ones do not count."""
        order = list(self.contestants.items())
        for number in range(-1, rounds):
            self._shuffle(order)
            for name, contestant in order:
                for program in group:
                    seconds = program.seconds(contestant)
                    if number >= 0:
                        samples = self.record.samples.setdefault(f"{name}/{program.name}", [])
                        samples.append([seconds])


def measure(against: str, console: Console, *, quick: bool) -> Record:
    """Run all steps; failures are noted in the record."""
    record = Record(describe_machine(PACKAGES))
    with tempfile.TemporaryDirectory(prefix="overhead-") as temporary:
        folder = Path(temporary)
        console.print("building spatch_core", style="dim")
        versions = {OLD: stage(against, folder / "old")} if against else {}
        versions[""] = stage(ROOT, folder / "new")
        if against:
            record.machine["spatch-core"] = f"new: {versions[''].label}"
            record.machine["against"] = record.notes["against"] = f"old: {versions[OLD].label}"
        is_built = all(version.is_built for version in versions.values())
        if not is_built:
            console.print("the C extension could not be built: pure Python alone", style="bold")
        modes = list(MODES) if is_built else ["pure"]
        contestants = {
            f"{prefix}{mode}": Contestant(version, mode)
            for mode in modes
            for prefix, version in versions.items()
        }
        steps = list(Benchmark(record, contestants, folder, quick=quick).steps())
        with progress(console, len(steps)) as report:
            for title, action in steps:
                report(title)
                try:
                    action()
                except Exception as error:  # noqa: BLE001  # the other figures are valid
                    record.failures.append(f"{title}: {type(error).__name__}: {error}")
    return record


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer rounds")
    add("--against", default="", metavar="VERSION", help="a checkout's folder, or a git revision")
    add("--update-docs", action="store_true", help=f"put the run into {PAGE.name}")
    add("--json", type=Path, metavar="FILE", help="write the samples")
    add("--replay", type=Path, nargs="+", metavar="FILE", help="show files of --json")
    options = parser.parse_args()
    if options.replay and (options.json or options.against):
        parser.error("--replay measures nothing, so --json and --against mean nothing beside it")
    if options.update_docs and options.against:
        parser.error("the docs show one version: --against and --update-docs exclude each other")

    console = Console(stderr=True)
    if options.replay:
        records = [Record.load(file) for file in options.replay]
    else:
        try:
            records = [measure(options.against, console, quick=options.quick)]
        except ValueError as error:
            parser.error(str(error))
    if options.json:
        records[0].save(options.json)
    text = "\n".join(
        f"### {each.machine['interpreter']}\n\n{markdown(each, tables(each))}" for each in records
    )
    show(text)
    failed = any(record.failures for record in records)
    if options.update_docs and failed:
        console.print(f"{PAGE.relative_to(ROOT)} is left as it was: the run is not complete")
    elif options.update_docs:
        update(PAGE, text)
        console.print(f"{PAGE.relative_to(ROOT)} has it now")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
