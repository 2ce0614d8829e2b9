"""Libraries and distributions with backends, for the tests of the helpers and the plugin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core.testing import Distribution, write_distribution

GROUP = "testing_library.backends"


@pytest.fixture
def distribution(tmp_path: Path) -> Iterator[Distribution]:
    """A backend of the library below."""
    yield write_distribution(
        tmp_path / "site",
        "Loud.backend--dist",
        "1.2.3",
        entry_points={
            GROUP: {"loud": "testing_loud:backend.toml"},
            "spatch_core.libraries": {"x": "y:z"},
        },
        files={
            "testing_loud/__init__.py": """
                def double(x):
                    return "loud"
            """,
            "testing_loud/backend.toml": """
                name = "loud"
                primary_types = ["builtins:str"]
                [functions."testing_library:double"]
                function = "testing_loud:double"
            """,
            "testing_loud/bytes.bin": b"\xff\x00",
        },
    )
    sys.modules.pop("testing_loud", None)


@pytest.fixture
def system() -> BackendSystem:
    return BackendSystem(GROUP, "TESTING_LIBRARY", default_primary_types=["builtins:float"])


@pytest.fixture
def double(system: BackendSystem) -> Any:
    @system.dispatchable("x", module="testing_library", qualname="double")
    def double(x: object) -> str:
        return "default"

    return double


ROOT = str(Path(spatch_core.__file__).parents[1])
INSTALLED = any(each.name == "spatch" for each in entry_points(group="pytest11"))
PLUGIN = [] if INSTALLED else ["-p", "spatch_core.testing.pytest_plugin"]
LIBRARY = """
    from spatch_core import BackendSystem

    system = BackendSystem("kitlib.backends", "KITLIB", default_primary_types=["kitlib:Box"])

    class Box:
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return type(other) is Box and other.value == self.value

    @system.dispatchable("box")
    def double(box):
        return Box(2 * box.value)

    @system.dispatchable("box")
    def half(box):
        return Box(box.value / 2)

    @system.dispatchable("box")
    async def later(box):
        return box

    @system.dispatchable("box", mutates="box")
    def clear(box):
        box.value = 0

    def wrong(box):
        return double(box)
    """
CRATES = """
    import kitlib

    class Crate:
        def __init__(self, value):
            self.value = value

    def double(crate):
        assert type(crate) is Crate
        return Crate(crate.value + crate.value)

    def doubled(box):
        return kitlib.Box(99 if box.value == 13 else 2 * box.value)

    def is_positive(context, box):
        return True if box.value >= 0 else "the box is negative"

    def to_default(crate):
        return kitlib.Box(crate.value)

    def from_default(box):
        if box.value is None:
            raise NotImplementedError("an empty box")
        return Crate(box.value)
    """
CRATE = """
    name = "crate"
    primary_types = ["kitcrate:Crate"]
    to_default = "kitcrate:to_default"
    from_default = "kitcrate:from_default"
    [functions."kitlib:double"]
    function = "kitcrate:double"
    """
FAST = """
    name = "fast"
    primary_types = ["kitlib:Box"]
    requires_opt_in = true
    [functions."kitlib:double"]
    function = "kitcrate:doubled"
    should_run = "kitcrate:is_positive"
    """
TESTS = """
    import asyncio, threading
    import kitlib, pytest
    from kitlib import Box

    def test_positive():
        assert kitlib.double(Box(1)) == Box(2)

    def test_negative():
        assert kitlib.double(Box(-1)) == Box(-2)

    def test_half():
        assert kitlib.half(Box(2)) == Box(1)

    def test_nothing():
        pass

    def test_in_a_thread():
        thread = threading.Thread(target=kitlib.double, args=(Box(1),))
        thread.start()
        thread.join()
    """


@dataclass
class Run:
    """The output of a run of pytest, and its report."""

    code: int
    output: str
    report: Any

    def calls(self, name: str, kind: str) -> Any:
        return self.report["functions"][f"kitlib:{name}"][kind]


@dataclass
class Kit:
    """A folder with a library, its backends and its tests."""

    folder: Path

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(dedent(text), encoding="utf-8")
        return path

    def run(self, *arguments: str | Path, library: str = "kitlib") -> Run:
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        options = ["-q", "-rA", "-p", "no:cacheprovider", f"--spatch-json={report}"]
        command = [sys.executable, "-m", "pytest"]
        done = subprocess.run(
            [*command, *PLUGIN, *options, f"--spatch-library={library}", *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(self.folder), ROOT])},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        content = json.loads(report.read_text("utf-8")) if report.exists() else None
        return Run(done.returncode, done.stdout, content)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    write_distribution(
        tmp_path,
        "kitlib",
        entry_points={"spatch_core.libraries": {"kitlib": "kitlib:system"}},
        files={"kitlib.py": LIBRARY},
    )
    write_distribution(
        tmp_path,
        "kit-crates",
        "3.2",
        entry_points={
            "kitlib.backends": {"crate": "kitcrates:crate.toml", "fast": "kitcrates:fast.toml"}
        },
        files={
            "kitcrate.py": CRATES,
            "kitcrates/__init__.py": "",
            "kitcrates/crate.toml": CRATE,
            "kitcrates/fast.toml": FAST,
        },
    )
    kit = Kit(tmp_path)
    kit.write("pytest.ini", "[pytest]\naddopts = --strict-markers\n")
    kit.write("test_kit.py", TESTS)
    return kit
