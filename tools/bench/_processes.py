"""Times fresh processes: importing, discovering, reading descriptions.

The package is copied to a folder of its own and run without site-packages, so that what else
is installed does not count. The user's cache folder is not touched.
"""

from __future__ import annotations

import compileall
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench._sampling import Samples

FORBIDDEN = ("inspect", "dataclasses", "tomllib", "importlib.metadata", "re")
GROUP = "bench.backends"

# Without the environment it was made in; its own site-packages has little more than pip.
_PYTHON = getattr(sys, "_base_executable", None) or sys.executable

_NOTHING = "pass"
_IMPORT = "import spatch_core"
_DECORATE = """
from spatch_core import BackendSystem
system = BackendSystem("bench.backends", "BENCH", default_primary_types=["builtins:float"])
@system.dispatchable(("x", "y"), module="bench", qualname="function0")
def function0(x, y=None): return x
"""
_CLOCK = """
import sys, time
clock = time.perf_counter if sys.platform == "win32" else time.process_time
"""
_ENTRY_POINTS = f"""{_CLOCK}
start = clock()
from importlib.metadata import entry_points
entry_points(group="bench.backends")
print(clock() - start)
"""
_DISCOVER = f"""{_CLOCK}{_DECORATE}
start = clock()
count = len(system.backends)
print(clock() - start)
assert count == EXPECTED + 1, count
"""
_FIRST_CALL = f"""{_CLOCK}{_DECORATE}
start = clock()
function0(1.0, 2.0)
print(clock() - start)
assert len(system.backends) == 101, system.problems
"""


@contextmanager
def stage() -> Iterator[Stage]:
    """Copy the package to a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="overhead-") as folder:
        yield Stage(Path(folder))


class Stage:
    """A folder with the package in it, and others with distributions.

    Parameters
    ----------
    folder : Path
        An empty one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "package"
        self._copy("spatch_core")
        if sys.version_info < (3, 11):
            self._copy("tomli", "*.so", "*.pyd")  # which need another module, beside it
        compileall.compile_dir(self.package, quiet=2)

    def _copy(self, name: str, *without: str) -> None:
        source = Path(str(import_module(name).__file__)).parent
        junk = shutil.ignore_patterns("__pycache__", *without)
        shutil.copytree(source, self.package / name, ignore=junk)

    def imports(self, variables: Mapping[str, str], rounds: int) -> Samples:
        """Time importing over doing nothing."""
        programs = {"pass": _NOTHING, "import": _IMPORT, "library": _DECORATE}
        samples: Samples = {name: [] for name in programs}
        for _ in range(rounds):
            for name, program in programs.items():
                samples[name].append(self._run(program, variables)[0])
        return samples

    def unwanted(self, variables: Mapping[str, str]) -> list[str]:
        """Return the modules that a library's import should not bring, and does."""
        loaded = []
        for program in (_NOTHING, _DECORATE):
            command = [_PYTHON, "-s", "-X", "importtime", "-c", program]
            found = subprocess.run(
                command,
                cwd=self.package,
                env=self._environment(variables),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=True,
            )
            loaded.append(set(re.findall(r"\|\s*([\w.]+)$", found.stderr, re.MULTILINE)))
        return [name for name in FORBIDDEN if name in loaded[1] - loaded[0]]

    def discovery(self, variables: Mapping[str, str], installed: int, rounds: int) -> Samples:
        """Time discovering three backends among many distributions.

        Without a cache, with one, and what `importlib.metadata` takes alone.
        """
        folder = self.folder / f"installed-{installed}"
        for number in range(installed):
            _write_distribution(folder, number, is_backend=number < 3, functions=20)
        _let_settle(folder)
        cached = {**variables, **self._cache(f"discovery-{installed}")}
        uncached = {**cached, "SPATCH_CORE_CACHE": "off"}
        program = _DISCOVER.replace("EXPECTED", "3")
        self._run(program, cached, folder)
        label = f"discovery {installed}"
        samples: Samples = {f"{label}/{each}": [] for each in ("alone", "cached", "uncached")}
        for _ in range(rounds):
            for name, text, environment in (
                ("alone", _ENTRY_POINTS, cached),
                ("cached", program, cached),
                ("uncached", program, uncached),
            ):
                samples[f"{label}/{name}"].append(self._run(text, environment, folder)[1])
        return samples

    def descriptions(self, variables: Mapping[str, str], rounds: int) -> Samples:
        """Time the first call of a process, with 100 backends of 100 functions in TOML.

        In a first process, in a second one, and what `importlib.metadata` takes of that.
        """
        folder = self.folder / "described"
        for number in range(100):
            _write_distribution(folder, number, is_backend=True, functions=100)
        _let_settle(folder)
        samples: Samples = {"toml/first": [], "toml/second": [], "toml/alone": []}
        for number in range(rounds):
            environment = {**variables, **self._cache(f"toml-{number}")}
            for name, program in (
                ("first", _FIRST_CALL),
                ("second", _FIRST_CALL),
                ("alone", _ENTRY_POINTS),
            ):
                samples[f"toml/{name}"].append(self._run(program, environment, folder)[1])
        return samples

    def _cache(self, name: str) -> dict[str, str]:
        """Return the variables that make a new folder the place for the user's caches."""
        path = self.folder / "caches" / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return dict.fromkeys(("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"), str(path))

    def _environment(self, variables: Mapping[str, str], *path: Path) -> dict[str, str]:
        entries = os.pathsep.join(map(str, [self.package, *path]))
        return {**variables, "PYTHONPATH": entries}

    def _run(
        self, program: str, variables: Mapping[str, str], folder: Path | None = None
    ) -> tuple[float, float]:
        """Run a program; return the seconds of the process, and those it prints.

        With a folder of distributions, these are the only ones.
        """
        command = [_PYTHON, "-s", *(["-S"] if folder else []), "-c", program]
        environment = self._environment(variables, *([folder] if folder else []))
        seconds, output = _timed(command, self.package, environment)
        return seconds, float(output or 0)


def _timed(command: list[str], cwd: Path, environment: dict[str, str]) -> tuple[float, str]:
    """Run a command; return its seconds, the processor's where they can be had, and output."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        output = process.stdout.read()
        errors = process.stderr.read()
        if hasattr(os, "wait4"):
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = usage.ru_utime + usage.ru_stime
        else:
            process.wait()
            seconds = time.perf_counter() - start
    if process.returncode:
        raise RuntimeError(f"{command[-1]}\nended with code {process.returncode}:\n{errors}")
    return seconds, output


def _let_settle(folder: Path) -> None:
    """Make all files an hour old: what has just been written is not kept in caches."""
    for file in folder.rglob("*.toml"):
        status = file.stat()
        os.utime(file, (status.st_atime - 3600, status.st_mtime - 3600))


def _write_distribution(folder: Path, number: int, *, is_backend: bool, functions: int) -> None:
    """Write one of many; every fifth of the others has a command, as they do."""
    package = f"package_{number}"
    if not is_backend:
        command = {"console_scripts": {package: f"{package}:main"}} if number % 5 == 0 else None
        write_distribution(
            folder, package, entry_points=command, files={f"{package}/__init__.py": ""}
        )
        return
    lines = [f'name = "backend{number}"', f'primary_types = ["{package}.arrays:Array"]', ""]
    for each in range(functions):
        lines += [
            f'[functions."bench:function{each}"]',
            f'function = "{package}.functions:function{each}"',
            f'should_run = "{package}.functions:should_run"',
            f"additional_docs = {json.dumps(f'Runs function {each} elsewhere.')}",
            "",
        ]
    write_distribution(
        folder,
        package,
        entry_points={GROUP: {f"backend{number}": f"{package}:backend.toml"}},
        files={f"{package}/__init__.py": "", f"{package}/backend.toml": "\n".join(lines)},
    )
