"""The steps of `check.py`: what is run, and in which environment."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from _workshop import ROOT, Distribution, Workshop, command_of, example_distributions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _interpreters import Interpreter

# Which interpreter, if there is one, runs everything that runs on one alone.
PREFERRED = ("3.13", "3.12", "3.14", "3.11", "3.10")
CORE = Distribution(ROOT)
SLOW = ("cli", "tools", "typing", "test_wheel.py")
DRAWN = ("property", "test_acceleration_stress.py")
"""Tests of many samples and of many threads: the first interpreter, which has no C extension,
and the one that runs most say enough about these, too."""
CALLS = ["tests", *(f"--ignore=tests/{name}" for name in (*SLOW, *DRAWN))]
"""All tests but these, and those whose processes take long."""
LONG = (
    *("child", "completion", "doctor", "explain", "hooks", "misspelled", "new_backend"),
    *("terminal", "trial", "update", "verify", "why_not"),
)
"""The tests of the command line that start the most processes: one interpreter runs these."""
ACCELERATED = (3, 12)
"""The first Python that the C extension is for."""
NEWEST_FOR_OLDER_JAX = (3, 12)
"""The last Python that the oldest JAX that we serve has wheels for."""


@dataclass(frozen=True)
class Command:
    """One process of a step; it fails when the process does."""

    title: str
    arguments: list[str]
    folder: Path = ROOT
    report: Path | None = None  # where pytest writes its counts; its output is shown
    variables: dict[str, str] = field(default_factory=dict)
    says: str = ""  # what the output must contain
    code: int = 0


@dataclass(frozen=True)
class Step:
    """Something that can be run alone, by its name."""

    name: str
    title: str
    commands: Callable[[], Iterator[Command]]
    side_by_side: bool = False  # whether they run at the same time, as many as there are cores

    def is_named(self, name: str) -> bool:
        """Whether `name` means this step: ``core`` means ``core-3.10`` and its siblings."""
        return self.name == name or self.name.startswith(name + "-")


class Checks:
    """The steps, and the environments they run in, made when first needed."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        by_name = {each.name: each for each in workshop.interpreters}
        self.main = next(by_name[name] for name in PREFERRED if name in by_name)
        self.examples = example_distributions()

    def steps(self) -> list[Step]:
        steps = [
            Step("lint", "ruff: rules and format", self.lint),
            Step(
                "imports", "import-linter: each module imports only from those below", self.imports
            ),
            Step("types", "mypy --strict and pyright", self.types),
        ]
        for each in self.workshop.interpreters:
            title = f"tests of spatch_core on Python {each.name}"
            if each is self.main:
                title += ", with branch coverage"
            elif each is self.workshop.interpreters[0]:
                title += ", without the longest"
            else:
                title += ", without those of the command line, of many samples and of many threads"
            steps.append(Step(f"core-{each.name}", title, partial(self.core, each)))
            if each is self.main and each.version >= ACCELERATED:
                title = f"its calls without the C extension on Python {each.name}"
                steps.append(Step(f"core-{each.name}-pure", title, partial(self.pure, each)))
        steps += [
            Step("examples", "tests of the example library and backends", self.example_tests),
            Step("examples-older", "those for JAX and Dask with the oldest of these", self.older),
            Step("backends", "what the tools say of the example backends", self.backends, True),
            Step("docs", "every code block and docstring example, then the pages", self.docs),
            Step("wheels", "what people install and run", self.wheels),
        ]
        return steps

    def main_python(self) -> Path:
        """Return the Python of the environment that has everything in it."""
        groups = ["examples", "lint", "types", "docs", "demo"]
        distributions = [CORE, *self.examples]
        return self.workshop.environment("main", self.main, distributions, groups, extras="cli")

    def lint(self) -> Iterator[Command]:
        ruff = command_of(self.main_python(), "ruff")
        yield Command("ruff check", [ruff, "check", "."])
        yield Command("ruff format", [ruff, "format", "--check", "--diff", "."])

    def imports(self) -> Iterator[Command]:
        yield Command("import contracts", [command_of(self.main_python(), "lint-imports")])

    def types(self) -> Iterator[Command]:
        python = self.main_python()
        mypy = command_of(python, "mypy")
        yield Command("mypy: core", [mypy, "spatch_core", "tools", "tests", "docs", "conftest.py"])
        for each in self.examples:
            source = str(each.folder / "src")
            yield Command(f"mypy: {each.label}", [mypy, source], variables={"MYPYPATH": source})
        yield Command("pyright", [command_of(python, "pyright"), "--pythonpath", str(python)])
        yield self.pytest(python, "typing", ["tests/typing"])

    def core(self, interpreter: Interpreter) -> Iterator[Command]:
        name = f"core-{interpreter.name}"
        python = self.workshop.environment(name, interpreter, [CORE], ["test"], extras="cli")
        if interpreter is self.main:
            parts = ["tests", "--cov", "--cov-report=term"]
        elif interpreter is self.workshop.interpreters[0]:
            parts = ["tests", *(f"--ignore=tests/cli/test_{name}.py" for name in LONG)]
        else:
            parts = CALLS
        yield self.pytest(python, name, parts)

    def pure(self, interpreter: Interpreter) -> Iterator[Command]:
        python = self.workshop.environment(
            f"core-{interpreter.name}", interpreter, [CORE], ["test"], extras="cli"
        )
        command = self.pytest(python, f"core-{interpreter.name}-pure", CALLS)
        yield replace(command, variables={"SPATCH_CORE_PURE": "1"})

    def example_tests(self) -> Iterator[Command]:
        for each in self.examples:
            if (each.folder / "tests").exists():
                yield self.pytest(self.main_python(), each.label, ["tests"], each.folder)
        # These tools take what the environments of the core lack.
        tools = [f"tests/tools/test_{name}.py" for name in ("real_work", "scipy_tests")]
        yield self.pytest(self.main_python(), "tools", tools)

    def older(self) -> Iterator[Command]:
        oldest = self.workshop.interpreters[0]
        if oldest.version[:2] > NEWEST_FOR_OLDER_JAX:
            return
        names = ("", *(f"-{each}" for each in ("dask", "jax", "threads")))
        examples = {
            each.label: each
            for each in self.examples
            if each.label.removeprefix("scipy-dispatch") in names
        }
        distributions = [CORE, *examples.values()]
        python = self.workshop.environment("older", oldest, distributions, ["older"], extras="cli")
        # The newest releases have the sampled settings besides, and the size of what they need.
        parts = ["tests", "--ignore=tests/property", "--ignore=tests/test_memory.py"]
        for name in ("jax", "dask"):
            folder = examples[f"scipy-dispatch-{name}"].folder
            yield self.pytest(python, f"older-{name}", parts, folder)

    def backends(self) -> Iterator[Command]:
        tool = command_of(self.main_python(), "spatch-core")
        files = sorted(map(str, (ROOT / "example_backends").glob("*/src/**/*.toml")))
        yield Command("spatch-core update --check", [tool, "update", "--check", *files])
        yield Command("spatch-core verify", [tool, "verify", *files])
        yield Command("spatch-core doctor", [tool, "doctor"])
        python = str(self.main_python())
        if sys.platform == "linux" and platform.machine() == "x86_64":  # what CuPy's wheel is for
            cupy = ROOT / "example_backends" / "scipy-dispatch-cupy"
            write_map = [python, "tools/write_map.py", "--check"]
            yield Command("names and signatures of CuPy", write_map, folder=cupy)
        agreement = [python, "tools/agreement.py", "--check"]
        yield Command("the table of functions and tolerances", agreement)

    def docs(self) -> Iterator[Command]:
        python = self.main_python()
        # The tests of docstrings need numpydoc, which the environments of the core lack.
        parts = ["README.md", "docs", "tests/test_docs.py", "tests/test_dispatchable.py"]
        # The blocks of a page are one piece of work.
        yield self.pytest(python, "docs", parts, shared="loadfile")
        yield self.pytest(python, "docstrings", ["--doctest-modules", "--pyargs", "spatch_core"])
        target = self.workshop.folder / "docs"
        sphinx = [str(python), "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-j", "auto"]
        yield Command("sphinx", [*sphinx, "-b", "html", "docs", str(target)])

    def wheels(self) -> Iterator[Command]:
        bare = self.workshop.environment("bare", self.main, [CORE])
        elsewhere = self.workshop.folder
        yield Command(
            "import without any extra",
            [str(bare), "-c", "import spatch_core as s; print(s.BackendSystem, s.__file__)"],
            folder=elsewhere,
            says="site-packages",
        )
        yield Command(
            "command line without the cli extra",
            [command_of(bare, "spatch-core"), "list"],
            folder=elsewhere,
            says="spatch-core[cli]",
            code=2,
        )
        full = self.main_python()
        for arguments in (["list"], ["list", "--json"]):
            yield Command(
                f"spatch-core {' '.join(arguments)}",
                [command_of(full, "spatch-core"), *arguments],
                folder=elsewhere,
                says="threads",
            )
        picture = self.workshop.folder / "demonstration.png"
        demonstration = str(ROOT / "tools" / "demonstration.py")
        yield Command(
            "demonstration",
            [str(full), demonstration, "--enlarge", "1", "--picture", str(picture)],
            folder=elsewhere,
            says=str(picture),
        )

    def pytest(
        self,
        python: Path,
        name: str,
        arguments: list[str],
        folder: Path = ROOT,
        shared: str = "worksteal",
    ) -> Command:
        # The command, not `python -m`, which would put this checkout before the wheels.
        report = self.workshop.log(name).with_suffix(".xml")
        report.unlink(missing_ok=True)
        color = "yes" if sys.stdout.isatty() and "NO_COLOR" not in os.environ else "no"
        share = ["-n", str(_workers()), "--dist", shared]
        options = ["-q", f"--color={color}", *share, f"--junitxml={report}"]
        return Command(
            f"pytest: {name}",
            [command_of(python, "pytest"), *options, *arguments],
            folder=folder,
            report=report,
        )


def _has_python(path: Path) -> bool:
    return path.suffix == ".py" or any(path.rglob("*.py"))


def _workers() -> int:
    cores = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    return max(2, min(cores, 8))
