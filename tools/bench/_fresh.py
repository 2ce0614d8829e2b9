"""Times fresh processes: importing, discovering, the first call.

They see spatch_core and the distributions that are written here, but no other installed
distribution.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench._record import run
from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from bench._versions import Contestant

# Without the environment it was made in; its own site-packages has little more than pip.
PYTHON = getattr(sys, "_base_executable", None) or sys.executable

_CLOCK = """
import sys, time
clock = time.perf_counter if sys.platform == "win32" else time.process_time
start = clock()
"""
_LIBRARY = """
from spatch_core import BackendSystem
system = BackendSystem("bench.backends", "BENCH", ["builtins:float"])
@system.dispatchable(("x", "y"), module="bench", qualname="function0")
def function0(x, y=None): return x
"""
_STOP = "print(clock() - start)\n"
_IMPORT = f"{_CLOCK}import spatch_core\n{_STOP}"
_DECORATE = f"{_CLOCK}{_LIBRARY}{_STOP}"
_ENTRY_POINTS = f"""{_CLOCK}
from importlib.metadata import entry_points
entry_points(group="bench.backends")
{_STOP}"""
_DISCOVER = f"{_LIBRARY}{_CLOCK}count = len(system.backends)\n{_STOP}assert count == 4, count\n"


@dataclass(frozen=True)
class Program:
    """A program for a fresh process; it prints seconds, and `name` is the name of the samples."""

    name: str
    text: str
    installed: Path | None = None
    """The folder of distributions that it sees; None means those of the bare interpreter."""

    def seconds(self, contestant: Contestant) -> float:
        """Run the program once."""
        path = [self.installed] if self.installed else []
        variables = contestant.variables(*path)
        command = [PYTHON, "-s", *(["-S"] if path else []), "-c", self.text]
        return float(run(command, contestant.version.folder, variables))


def first_call(backends: int, functions: int = 1) -> str:
    """Return a program that times the first call of a library with so many of both."""
    others = f"""for number in range(1, {functions}):
    @system.dispatchable(("x", "y"), module="bench", qualname=f"function{{number}}")
    def other(x, y=None): return x
"""
    check = f"assert len(system.backends) == {backends + 1}, system.problems\n"
    return f"{_LIBRARY}{others}{_CLOCK}function0(1.0, 2.0)\n{_STOP}{check}"


def programs(folder: Path, sizes: tuple[int, ...]) -> dict[str, list[Program]]:
    """Write distributions, in several numbers for discovery; return the programs that use them."""
    found = {"importing": [Program("import", _IMPORT), Program("library", _DECORATE)]}
    for count in sizes:
        installed = install(folder / f"installed-{count}", count, backends=3, functions=20)
        found[f"discovery, {count} installed"] = [
            Program(f"{count}/alone", _ENTRY_POINTS, installed),
            Program(f"{count}/discovered", _DISCOVER, installed),
        ]
    installed = install(folder / "described", 100, backends=100, functions=100)
    found["the first call"] = [
        Program("toml/first", first_call(100), installed),
        Program("toml/alone", _ENTRY_POINTS, installed),
    ]
    return found


def install(folder: Path, count: int, backends: int, functions: int) -> Path:
    """Write distributions; the first ones have backends, every fifth of the others a command."""
    for number in range(count):
        package = f"package_{number}"
        files = {f"{package}/__init__.py": ""}
        entry_points = {}
        if number < backends:
            entry_points["bench.backends"] = {f"backend{number}": f"{package}:backend.toml"}
            files[f"{package}/backend.toml"] = _description(number, package, functions)
        elif number % 5 == 0:
            entry_points["console_scripts"] = {package: f"{package}:main"}
        write_distribution(folder, package, entry_points=entry_points, files=files)
    return folder


def _description(number: int, package: str, functions: int) -> str:
    lines = [f'name = "backend{number}"', f'primary_types = ["{package}.arrays:Array"]']
    for each in range(functions):
        lines += [
            f'[functions."bench:function{each}"]',
            f'function = "{package}.functions:function{each}"',
            f'should_run = "{package}.functions:should_run"',
        ]
        lines.append(f"additional_docs = {json.dumps(f'Runs function {each} elsewhere.')}")
    return "\n".join(lines)
