"""Measure the cost of dispatching, beside other dispatchers or beside another version.

    python tools/bench/overhead.py                  # completely, in five minutes
    python tools/bench/overhead.py --rounds 1       # roughly, in one
    python tools/bench/overhead.py --against main   # this checkout beside a revision, or a folder
    python tools/bench/overhead.py --update-docs    # put the run into the docs

Needs the dependency group `bench`, and a compiler for the C extension. A process measures short
slices of all operations of one contestant in turn, and the next one those of the next contestant,
so that what disturbs the machine meets all of them. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
if find_spec("pyperf") is None or find_spec("rich") is None:
    sys.exit("This needs the dependency group `bench`: python -m pip install --group bench")

import pyperf

from bench._record import (
    ROOT,
    Record,
    describe_commit,
    describe_machine,
    markdown,
    number,
    run,
    show,
    table,
    update,
    with_spread,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "explanation" / "what-it-costs.md"
CASES = Path(__file__).with_name("_cases.py")
PACKAGES = ("pyperf", "numpy", "uarray", "plum-dispatch", "multipledispatch")
ROUNDS = 4
MODES = {"pure": "pure Python", "accelerated": "accelerated"}
UNITS = {"ns": 1e9, "µs": 1e6, "ms": 1e3}
Samples = dict[str, list[list[float]]]
"""The seconds of each operation in each turn of each process; `_cases.py` has the operations."""

RAW, BARE, METHOD, PARTIAL, ONE_TYPE, SWITCH, BY_HAND, ALONE, THAT = (
    f"\N{MULTIPLICATION SIGN} {other}"
    for other in (
        *("raw", "bare wrapper", "bare method", "partial", "one type"),
        *("set and reset", "a dictionary", "entry_points()", "that"),
    )
)


class Figure(NamedTuple):
    """One line of a table: the samples, the reference, and the targets ("at most").

    The unit is a unit of time, or the name of the reference if the figure is a ratio.
    """

    title: str
    unit: str
    name: str
    against: str = ""
    pure: float | None = None
    accelerated: float | None = None

    def values(self, samples: Samples) -> list[float]:
        """Return the figure of each turn; empty if it was not measured."""
        found = samples.get(self.name, [])
        if self.unit not in UNITS:
            return ratios(found, samples.get(self.against, []))
        scale, other = UNITS[self.unit], median(flat(samples.get(self.against, [[0.0]])))
        return [(each - other) * scale for each in flat(found)]


def flat(found: list[list[float]]) -> list[float]:
    return [value for each in found for value in each]


def ratios(found: list[list[float]], others: list[list[float]]) -> list[float]:
    """Divide each value by the other's of the same turn: the machine was in the same state."""
    pairs = zip(found, others, strict=False)
    return [a / b for each, other in pairs for a, b in zip(each, other, strict=False)]


FIGURES = {
    "Calls": [
        Figure("1 dispatch argument", RAW, "spatch/one", "raw/one", 4.5, 2.0),
        Figure("1 dispatch argument", BARE, "spatch/one", "bare/one", 1.3, 0.5),
        Figure("2, positional", RAW, "spatch/two", "raw/two", 5.0, 2.0),
        Figure("2, positional", BARE, "spatch/two", "bare/two", 1.3, 0.5),
        Figure("2, positional", PARTIAL, "spatch/two", "partial/two"),
        Figure("3, positional", RAW, "spatch/three", "raw/three", 6.0, 2.0),
        Figure("3, positional", BARE, "spatch/three", "bare/three", 1.3, 0.5),
        Figure("2, a backend's implementation", RAW, "spatch/other", "raw/two"),
        Figure("2, one of them by keyword", BARE, "spatch/keyword", "bare/keyword", 1.8, 0.35),
        Figure("12 types in turn", ONE_TYPE, "spatch/12 types", "spatch/one type", 1.2, 1.3),
        Figure("a function no backend implements", RAW, "spatch/alone", "raw/two", 5.0, 2.0),
        Figure("`should_run` that says True", RAW, "spatch/asking", "raw/two", 12.0, 8.0),
        Figure("a backend that defers, then another", RAW, "spatch/deferring", "raw/two"),
        Figure("refused, with the reasons", "µs", "spatch/refused"),
        Figure("two arguments and the result converted", "µs", "spatch/converted"),
        Figure("`like=`, a backend's implementation", RAW, "spatch/like", "raw/two"),
        Figure("elements of a list of 2 (`inside=`)", RAW, "spatch/inside", "raw/two"),
    ],
    "Around calls": [
        Figure("`with opts(...)`, built anew", SWITCH, "block/new", "variable", 5.0),
        Figure("`with opts(...)`, reused", SWITCH, "block/reused", "variable", 2.5),
        Figure("a hook that passes a call on", "µs", "hook/through", "hook/plain", 3.0, 3.0),
        Figure(
            "a method, 1 dispatch argument", METHOD, "method/dispatched", "method/raw", 4.5, 2.0
        ),
        Figure("a class that overrides by the protocol", "µs", "protocol/own"),
        Figure("a subclass through the library's mixin", "µs", "protocol/subclass"),
        Figure("new state and first call, 100 backends", "µs", "state/100", "", 100.0),
        Figure("… 900 more that lack the function", THAT, "state/1000", "state/100", 1.2),
        Figure("read and order 200 backends of 1 function", "ms", "order/1"),
        Figure("… of 100 functions each", "ms", "order/100"),
        Figure("decorate a function", "µs", "decorate", "", 15.0),
    ],
    "Protocols": [
        Figure(
            "`np.mean(duck)`", BY_HAND, "protocol/mean backend", "protocol/mean by hand", 1.0, 1.0
        ),
        Figure("`duck + duck`", BY_HAND, "protocol/add backend", "protocol/add by hand", 1.0, 1.0),
        Figure("`system.lookup(identity, types)`", "ns", "protocol/lookup", "", None, 50.0),
    ],
    "Processes": [
        Figure("`import spatch_core`", "ms", "import", "", 12.0),
        Figure("the import of a library", "ms", "library", "", 12.0),
        Figure("discovery among 50 installed", ALONE, "50/discovered", "50/alone", 2.0),
        Figure("100 backends of 100 functions, first call", "ms", "first call"),
    ],
}

# The dispatchers, the calls by which they are compared, and those of the bare function beside them.
PEERS = {
    "raw": "the bare function",
    "bare": "`def w(*a, **k): return f(*a, **k)`",
    "partial": "`functools.partial(f)`, in C",
    "spatch": "spatch-core",
    "numpy": "NumPy's `__array_function__`, in C",
    "numpy_arrays": "the same, called with NumPy's own arrays",
    "uarray": "uarray, in C++",
    "singledispatch": "`functools.singledispatch`, first argument",
    "plum": "plum",
    "multipledispatch": "multipledispatch",
}
FORMS = {
    "one": "1 argument",
    "two": "2",
    "three": "3",
    "keyword": "keyword",
    "other": "backend",
    "12 types": "12 types",
    "alone": "no backend",
}
RAW_FORMS = {"other": "two", "12 types": "one type", "alone": "two"}


def tables(found: dict[str, Samples]) -> Iterator[str]:
    """Yield the lines of the tables of a run, from the samples of each mode."""
    for title, figures in FIGURES.items():
        columns = [each for mode in found for each in (MODES[mode], "at most", "")]
        yield from table(title, ["", "in", *columns], [_row(found, figure) for figure in figures])
    rows = []
    for name, title in PEERS.items():
        # Other dispatchers do not depend on the mode.
        for mode in found if name == "spatch" else [*found][:1]:
            told = f"**{title}, {MODES[mode]}**" if name == "spatch" else title
            values = [compared(found[mode], name, form) for form in FORMS]
            if set(values) != {None}:
                rows.append([told, *map(number, values)])
    raw = median(flat(next(iter(found.values())).get("raw/two", [[0.0]]))) * 1e9
    title = f"Side by side, in multiples of the bare function ({raw:.0f} ns for two arguments)"
    yield from table(title, ["", *FORMS.values()], rows)


def _row(found: dict[str, Samples], figure: Figure) -> list[str]:
    row = [figure.title, figure.unit]
    for mode, samples in found.items():
        values, aim = figure.values(samples), getattr(figure, mode)
        verdict = ("ok" if median(values) <= aim else "over") if values and aim else ""
        row += [with_spread(values), number(aim), verdict]
    return row


def compared(samples: Samples, dispatcher: str, form: str) -> float | None:
    """Return the cost of a dispatcher's call in multiples of the bare function's."""
    name, raw = f"{dispatcher}/{form}", f"raw/{RAW_FORMS.get(form, form)}"
    found = ratios(samples.get(name, []), samples.get(raw, []))
    return median(found) if found else None


def stage(source: str | Path, folder: Path) -> str:
    """Copy and compile the package of a checkout, or of a revision; return the name of its commit.

    The C extension is built by the version's own ``setup.py``, in the copy.
    """
    checkout = Path(source)
    folder.mkdir(parents=True)
    if (checkout / "spatch_core").is_dir():
        junk = shutil.ignore_patterns("__pycache__", *(f"*{each}" for each in EXTENSION_SUFFIXES))
        shutil.copytree(checkout / "spatch_core", folder / "spatch_core", ignore=junk)
        shutil.copy(checkout / "setup.py", folder)
        label = describe_commit(checkout)
    else:
        archive = folder / "archive.zip"
        export = ["git", "archive", "--format=zip", f"--output={archive}", str(source)]
        try:
            run([*export, "spatch_core", "setup.py"], ROOT)
        except RuntimeError as error:
            message = f"neither a checkout of spatch_core nor a revision of it: {source}\n{error}"
            raise LookupError(message) from error
        shutil.unpack_archive(archive, folder)
        label = f"commit {run(['git', 'rev-parse', '--short', f'{source}^{{commit}}'], ROOT)}"
    run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], folder)
    return label


def measure(
    contestants: dict[str, tuple[Path, str]], rounds: int, *, own: bool, only: str = ""
) -> None:
    """Add to a file for each contestant, which is the folder of a version and a mode."""
    unwanted = ("PYTHON", "SPATCH_CORE", "COV")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
    for each in range(rounds):
        for file, (folder, mode) in contestants.items():
            print(f"round {each + 1} of {rounds}: {Path(file).stem}", file=sys.stderr, flush=True)
            # Other dispatchers do not depend on the extension.
            more = ["--own"] if own or mode == "accelerated" else []
            pure = {"SPATCH_CORE_PURE": "1"} if mode == "pure" else {}
            subprocess.run(
                [sys.executable, str(CASES), file, f"--only={only}", *more],
                env={**kept, "PYTHONPATH": str(folder), **pure},
                check=True,
            )


def samples(file: str) -> Samples:
    """Return the samples of all rounds."""
    return {
        each.get_name(): [list(run.values) for run in each.get_runs()]
        for each in pyperf.BenchmarkSuite.load(file)
    }


def compare(against: str, folder: Path, rounds: int, only: str) -> int:
    """Measure this checkout and another version, and let pyperf compare them."""
    versions: dict[str, str | Path] = {"old": against, "new": ROOT}
    for name, source in versions.items():
        print(f"{name}: {stage(source, folder / name)}", flush=True)
    files = {mode: [str(folder / f"{mode} {name}.json") for name in versions] for mode in MODES}
    contestants = {
        file: (folder / name, mode)
        for mode, each in files.items()
        for file, name in zip(each, versions, strict=True)
    }
    measure(contestants, 2 * rounds, own=True, only=only)
    codes = []
    for mode, each in files.items():
        print(f"\n{MODES[mode]}", flush=True)
        command = [sys.executable, "-m", "pyperf", "compare_to", "--table", *each]
        codes.append(subprocess.run(command, check=False).returncode)
    return max(codes)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--rounds", type=int, default=ROUNDS, help=f"processes of each contestant; {ROUNDS}")
    add("--against", default="", metavar="VERSION", help="a checkout's folder, or a git revision")
    add("--only", default="", metavar="PREFIX", help="only operations that begin so, as 'spatch/'")
    add("--update-docs", action="store_true", help=f"put the run into {PAGE.name}")
    options = parser.parse_args()
    if options.update_docs and (options.against or options.only):
        parser.error("the docs show one version, completely: no --against and no --only")
    with tempfile.TemporaryDirectory(prefix="overhead-") as temporary:
        folder = Path(temporary)
        if options.against:
            try:
                return compare(options.against, folder, options.rounds, options.only)
            except LookupError as error:
                parser.error(str(error))
        record = Record(describe_machine(PACKAGES))
        stage(ROOT, folder / "new")
        files = {mode: str(folder / f"{mode}.json") for mode in MODES}
        measure(
            {file: (folder / "new", mode) for mode, file in files.items()},
            options.rounds,
            own=False,
            only=options.only,
        )
        found = {mode: samples(file) for mode, file in files.items()}
    text = f"### {record.machine['interpreter']}\n\n{markdown(record, tables(found))}"
    show(text)
    if options.update_docs:
        update(PAGE, text)
        print(f"{PAGE.relative_to(ROOT)} has it now", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
