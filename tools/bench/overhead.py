"""Measure what dispatching costs, beside other ways to dispatch.

    python tools/bench/overhead.py                  # all of it, in a minute or two
    python tools/bench/overhead.py --quick          # roughly, in a quarter of that
    python tools/bench/overhead.py --instructions   # count instructions too, with valgrind
    python tools/bench/overhead.py --update-docs    # put the run into the docs
    python tools/bench/overhead.py --json 3.12.json # keep the raw samples …
    python tools/bench/overhead.py --replay 3.*.json --update-docs  # … and show several runs

Needs the dependency group `bench`. Figures are ratios of what was measured side by side in
one run: the median over all rounds, with half the distance of the quartiles beside it. Nothing
is asserted, but what cannot be measured makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = ROOT / "tools"
PAGE = ROOT / "docs" / "explanation" / "what-it-costs.md"

sys.path.insert(0, str(TOOLS))
if find_spec("spatch_core") is None:  # not installed: measure this checkout
    sys.path.insert(1, str(ROOT))
if find_spec("rich") is None:
    sys.exit("This needs the dependency group `bench`: python -m pip install --group bench")

# ruff: noqa: E402 - the path comes first
from rich.console import Console

from bench._instructions import instructions, is_possible
from bench._machine import describe_load, describe_machine, load
from bench._processes import Stage, stage
from bench._progress import progress
from bench._report import MODES, Run, load_run, markdown, show
from bench._tables import update

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench._sampling import Samples


class Benchmark:
    """Measures, step by step.

    Parameters
    ----------
    run : Run
        Where the samples go.
    folder : Stage
        For fresh processes.
    quick : bool
        Whether a rough figure will do.
    """

    def __init__(self, run: Run, folder: Stage, *, quick: bool) -> None:
        self.run = run
        self.folder = folder
        self.quick = quick

    def steps(self, modes: list[str], *, count: bool) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield what to do, with its title.

        The modes take turns, so that whatever the machine does meanwhile meets both.
        """
        for number in range(1 if self.quick else 4):
            for mode in modes:
                yield (
                    f"calls, {MODES[mode]}, process {number + 1}",
                    partial(self._calls, mode, number),
                )
        for mode in modes:
            for title, action in (
                ("options, states, decorating", self._setup),
                ("importing", self._imports),
                ("discovery, 50 installed", partial(self._discovery, 50)),
                ("discovery, 500 installed", partial(self._discovery, 500)),
                ("descriptions in TOML", self._descriptions),
            ):
                yield f"{title}, {MODES[mode]}", partial(action, mode)
        if count:
            for mode in modes:
                yield f"instructions, {MODES[mode]}", partial(self._instructions, mode)

    def _rounds(self, number: int) -> int:
        return max(3, number // 5) if self.quick else number

    def _calls(self, mode: str, seed: int) -> None:
        accelerated, samples = _child(
            mode, "bench._calls", "--rounds", str(self._rounds(25)), "--seed", str(seed)
        )
        if accelerated is not (mode == "accelerated"):
            raise RuntimeError(f"SPATCH_CORE_PURE was not heeded: accelerated is {accelerated}")
        self._add(mode, samples)

    def _setup(self, mode: str) -> None:
        self._add(mode, _child(mode, "bench._setup", "--rounds", str(self._rounds(30))))

    def _imports(self, mode: str) -> None:
        variables = environment(mode)
        self._add(mode, self.folder.imports(variables, self._rounds(40)))
        self.run.unwanted[mode] = self.folder.unwanted(variables)

    def _discovery(self, installed: int, mode: str) -> None:
        rounds = self._rounds(15)
        self._add(mode, self.folder.discovery(environment(mode), installed, rounds))

    def _descriptions(self, mode: str) -> None:
        self._add(mode, self.folder.descriptions(environment(mode), self._rounds(7)))

    def _instructions(self, mode: str) -> None:
        self.run.instructions[mode] = instructions(environment(mode), TOOLS)

    def _add(self, mode: str, samples: Samples) -> None:
        known = self.run.samples[mode]
        for name, values in samples.items():
            known[name] = [*known.get(name, []), *values]


def environment(mode: str) -> dict[str, str]:
    """Return the variables of a process: nothing that changes what is measured."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "SPATCH_CORE", "BENCH", "COV"))
    }
    import spatch_core

    package = str(Path(str(spatch_core.__file__)).parent.parent)
    variables["PYTHONPATH"] = os.pathsep.join([str(TOOLS), package])
    variables["OPENBLAS_NUM_THREADS"] = "1"
    if mode == "pure":
        variables["SPATCH_CORE_PURE"] = "1"
    return variables


def _child(mode: str, module: str, *arguments: str) -> Any:
    found = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=TOOLS,  # it comes before everything else on the path
        env=environment(mode),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        raise RuntimeError(f"{module} ended with code {found.returncode}:\n{found.stderr}")
    return json.loads(found.stdout)


def _modes() -> list[str]:
    """Return the modes that can be measured here."""
    code = "import spatch_core; print(getattr(spatch_core, 'accelerated', False))"
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=TOOLS,
        env=environment("accelerated"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return list(MODES) if found.stdout.strip() == "True" else ["pure"]


def measure(console: Console, *, quick: bool, count: bool) -> Run:
    """Do all steps; what fails is told in the run."""
    modes = _modes()
    run = Run(describe_machine(), {mode: {} for mode in modes})
    busy = load()
    with stage() as folder:
        steps = list(Benchmark(run, folder, quick=quick).steps(modes, count=count))
        with progress(console, len(steps)) as report:
            for title, action in steps:
                report(title)
                try:
                    action()
                except Exception as error:  # noqa: BLE001  # the other figures are good
                    run.failures.append(f"{title}: {type(error).__name__}: {error}")
    run.machine["load average"] = describe_load(busy + load())
    return run


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--instructions", action="store_true", help="count them, with valgrind")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--update-docs", action="store_true", help=f"put it into {PAGE.name}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the raw samples")
    parser.add_argument(
        "--replay", type=Path, nargs="+", metavar="FILE", help="show what --json wrote"
    )
    options = parser.parse_args()
    if options.instructions and not is_possible():
        parser.error("valgrind is not there: on Debian and Ubuntu, apt install valgrind")

    console = Console(stderr=True)
    if options.replay and options.json:
        parser.error("--json writes what is measured, and --replay measures nothing")
    if options.replay:
        texts = [file.read_text(encoding="utf-8") for file in options.replay]
        runs = [load_run(json.loads(text)) for text in texts]
    else:
        runs = [measure(console, quick=options.quick, count=options.instructions)]
    if options.json:
        options.json.write_text(json.dumps(asdict(runs[0])), encoding="utf-8")
    if options.markdown:
        print(markdown(runs), end="")
    else:
        for run in runs:
            show(run, Console(width=None if sys.stdout.isatty() else 140))
    failed = any(run.failures for run in runs)
    if options.update_docs and failed:
        console.print(f"{PAGE.relative_to(ROOT)} is left as it was: the run is not complete")
    elif options.update_docs:
        update(PAGE, markdown(runs))
        console.print(f"{PAGE.relative_to(ROOT)} has it now")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
