"""Settings for all tests of spatch_core."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# Processes that tests start find the modules of tests; last, so that what is installed wins.
sys.path.append(str(Path(__file__).parents[1]))

settings.register_profile("local", deadline=None, max_examples=50)
# In CI the same examples every time: a failure there is never luck.
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

SLOW = (
    *("cli/", "examination/", "property/", "report/", "sphinx/", "testing/", "tools/"),
    *("typing/", "function/test_acceleration_stress.py", "test_migration.py", "test_wheel.py"),
    *("test_forks.py", "test_newcomers.py"),
    *("description/test_files.py", "discovery/test_distributions.py"),
)
"""Tests of many processes, threads or samples: over three quarters of the time of all tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    for item in items:
        if not item.path.is_relative_to(folder):
            continue
        path = item.path.relative_to(folder).as_posix()
        if path.startswith(SLOW):
            item.add_marker("slow")


@pytest.fixture(autouse=True)
def _forget_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget the modules that the test wrote: another one's may have the same name."""
    before = set(sys.modules)
    yield
    written = str(tmp_path_factory.getbasetemp())
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if isinstance(file, str) and file.startswith(written):
            del sys.modules[name]


@pytest.fixture
def switching() -> Iterator[None]:
    """Switch threads as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


WritePackage = Callable[[str, dict[str, str]], str]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WritePackage:
    """A function that writes an importable package, and returns its name."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, files: dict[str, str]) -> str:
        for file, text in {"__init__.py": "", **files}.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        importlib.invalidate_caches()
        return name

    return write
