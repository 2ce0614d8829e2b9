"""Distributions on disk, and the command line in fresh interpreters that see them."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import venv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from textwrap import dedent
from typing import Any, Protocol

import pytest

import spatch_core
from spatch_core.testing import write_distribution
from tests.cli.forked_commands import can_fork
from tests.cli.forked_commands import run as run_forked

SOURCE = Path(spatch_core.__file__).parent
LIBRARY = {
    "paintlib/__init__.py": """
        from importlib import import_module

        __all__ = ["filters"]

        def __getattr__(name):
            if name in __all__:
                return import_module("." + name, __name__)
            raise AttributeError(name)
        """,
    "paintlib/_dispatch.py": """
        from spatch_core import BackendSystem

        system = BackendSystem(
            "paintlib.backends", "PAINTLIB", default_primary_types=["builtins:int"]
        )
        """,
    "paintlib/filters.py": """
        from ._dispatch import system

        @system.dispatchable(["x"])
        def blur(x):
            return x

        @system.dispatchable(["x", "y"])
        def blend(x, y):
            return x
        """,
}


DEPENDENCIES = (
    *("click", "rich", "pygments", "markdown_it", "mdurl", "tomli"),
    *("jinja2", "markupsafe", "packaging", "tomlkit"),
)
"""The packages of the extra ``cli``, with what they need."""
TYPE = ["--type", "fractions:Fraction"]
"""For `create`: the type of the new backend."""
FUNCTIONS = """
    import math
    from ._dispatch import system

    missing = object()

    @system.dispatchable(["x"])
    def blur(x): ...

    @system.dispatchable(["x"])
    def alpha(x, /, n=None, text="a", mode='"', *rest, scale=(1, 2.5), one=(1,), odd=missing,
              limit=math.inf, flag=True, nested=(missing,), **more): ...

    @system.dispatchable(["x"])
    def only(x, /): ...

    @system.dispatchable(["x"])
    def keyword(x, *, n=None): ...
"""
"""A module of a library with parameters of every kind, for new backends."""
ODD = """
    from ._dispatch import system

    @system.dispatchable("x")
    async def asynchronous(x): ...

    @system.dispatchable("x")
    def generating(x):
        yield x

    @system.dispatchable("x")
    async def streaming(x):
        yield x

    @system.dispatchable("x")
    def _private(x): ...

    class Image:
        @system.dispatchable("self")
        def blend(self): ...

    @system.dispatchable("x")
    def smooth(x): ...
    """
"""A module of a library with one plain function, and others."""


@dataclass(frozen=True)
class Answer:
    """The output and the exit code of a command."""

    code: int
    output: str
    errors: str = ""

    @property
    def json(self) -> Any:
        return json.loads(self.output)

    @property
    def rows(self) -> list[list[str]]:
        """The lines of the tables, split into cells."""
        return [re.split(r" {2,}", line) for line in self.output.splitlines()]

    def row(self, name: str) -> list[str]:
        """The only line of a table that starts with `name`."""
        (found,) = (row for row in self.rows if row[0] == name and len(row) > 2)
        return found


@dataclass
class Site:
    """A folder with distributions, and interpreters that find them."""

    folder: Path
    python: str = sys.executable
    environment: dict[str, str] = field(default_factory=dict)

    def install_library(self, files: Mapping[str, str] | None = None) -> None:
        """Install `LIBRARY`, with some of its files replaced."""
        write_distribution(
            self.folder,
            "paint-lib",
            "2.5",
            entry_points={"spatch_core.libraries": {"paintlib": "paintlib._dispatch:system"}},
            files={**LIBRARY, **(files or {})},
        )

    def install_backend(self, name: str, toml: str, code: str = "") -> None:
        """Install a backend for `LIBRARY` with this description; its name is added."""
        package = f"paint_{name}".replace("-", "_")
        write_distribution(
            self.folder,
            f"paint-{name}",
            "1.0",
            entry_points={"paintlib.backends": {name: f"{package}:backend.toml"}},
            files={
                f"{package}/__init__.py": code,
                f"{package}/backend.toml": f'name = "{name}"\n{dedent(toml)}',
            },
        )

    def run(self, *arguments: str, **variables: str) -> Answer:
        """Run a command with its output in files, not in a terminal."""
        environment = self.variables(variables)
        if not can_fork(self.python, environment, self.folder):
            return self.run_anew(*arguments, **variables)
        with TemporaryDirectory() as folder:
            code = run_forked(arguments, environment, self.folder, Path(folder))
            output, errors = (
                Path(folder, name).read_text("utf-8") for name in ("output", "errors")
            )
        assert "Traceback" not in errors
        return Answer(code, output, errors)

    def run_anew(self, *arguments: str, **variables: str) -> Answer:
        """Run a command in an interpreter that starts for it, with its output piped."""
        done = subprocess.run(
            [self.python, "-m", "spatch_core", *arguments],
            env=self.variables(variables),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            encoding="utf-8",
        )
        assert "Traceback" not in done.stderr
        return Answer(done.returncode, done.stdout, done.stderr)

    def run_in_terminal(self, *arguments: str, width: int = 80, **variables: str) -> Answer:
        """Run a command in a pseudo-terminal, and capture its errors separately."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        errors = TemporaryFile()  # noqa: SIM115  # closed at the end
        process = subprocess.Popen(
            [self.python, "-m", "spatch_core", *arguments],
            env=self.variables({"TERM": "xterm-256color", **variables}),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=slave,
            stderr=errors,
            start_new_session=True,
        )
        os.close(slave)
        output = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # Linux's way to say that the other side is closed
                break
            if not part:
                break
            output += part
        os.close(master)
        code = process.wait()
        errors.seek(0)
        with errors:
            return Answer(code, output.decode().replace("\r\n", "\n"), errors.read().decode())

    def variables(self, more: Mapping[str, str]) -> dict[str, str]:
        """The environment variables of a command."""
        unwanted = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "PYTHONWARNINGS")
        kept = {key: value for key, value in os.environ.items() if key not in unwanted}
        path = os.pathsep.join([str(self.folder), str(SOURCE.parent)])
        return {**kept, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", **self.environment, **more}


def create(site: Site, *arguments: str, library: str = "paintlib") -> Answer:
    """Run the command for a new backend, in the site's own folder."""
    return site.run("new-backend", library, *arguments)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A folder without distributions; those of the environment are visible, too."""
    folder = tmp_path / "site"
    folder.mkdir()
    return Site(folder)


@pytest.fixture
def paint(site: Site) -> Site:
    """The library, and a backend for fractions."""
    site.install_library()
    site.install_backend(
        "oil",
        """
        primary_types = ["fractions:Fraction"]
        secondary_types = ["builtins:int"]
        [functions."paintlib.filters:blur"]
        function = "paint_oil:blur"
        """,
    )
    return site


@pytest.fixture
def bare(tmp_path: Path) -> Site:
    """An environment of its own, with nothing but spatch_core in it."""
    folder = tmp_path / "bare"
    venv.create(folder, symlinks=True)
    python = str(folder / "bin" / "python")
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-c", code], capture_output=True, check=True, text=True)
    site = Site(Path(packages.stdout.strip()), python, {"PYTHONPATH": ""})
    (site.folder / "spatch_core").symlink_to(SOURCE)
    return site


class LinkPackages(Protocol):
    """Links packages of this environment, if it has them, into another one."""

    def __call__(self, site: Site, *packages: str) -> None: ...


@pytest.fixture
def link_packages() -> LinkPackages:
    """Link packages for `bare`."""

    def link(site: Site, *packages: str) -> None:
        for package in packages:
            spec = importlib.util.find_spec(package)
            if spec is not None and spec.submodule_search_locations:
                (site.folder / package).symlink_to(spec.submodule_search_locations[0])

    return link
