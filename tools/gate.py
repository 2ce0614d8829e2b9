"""A plugin for pytest: run only the tests that use nothing private of `spatch_core`.

    pytest -p gate tests

These tests state what the package promises, so that they can judge another implementation of it.
`nox -s gate` runs them. The plugin must be importable: this folder is on pytest's `pythonpath`
only after plugins were loaded, so PYTHONPATH has to name it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

PUBLIC = (
    *("backend_system", "backend_utils", "cli", "examination", "exceptions", "hooks"),
    *("protocols", "sphinx", "switching", "testing", "types"),
)
"""The public modules and packages; the modules in public packages are private."""
PRIVATE = re.compile(
    rf"\bspatch_core\.(?!(?:{'|'.join(PUBLIC)})\b(?!\.))\w+ import"  # a module that is not public
    r"|\bspatch_core(?:\.\w+)*\._[a-z]"
    r"|\bsystem\._|\._dispatcher\b|\._loader\b"
)
REPOSITORY = (
    *("docs", "tools", "typing", "test_docs.py", "test_project_files.py", "test_rules.py"),
    "test_wheel.py",
)
"""Tests of this repository: its pages, its tools and its wheel."""


@cache
def is_private(file: Path) -> bool:
    """Whether a file of tests uses names that only this implementation has."""
    return file.is_file() and PRIVATE.search(file.read_text(encoding="utf-8")) is not None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out private tests, and folders whose helpers are private."""
    tests = config.rootpath / "tests"
    if not collection_path.is_relative_to(tests):
        return None
    if collection_path.relative_to(tests).as_posix() in REPOSITORY:
        return True
    file = collection_path / "conftest.py" if collection_path.is_dir() else collection_path
    return True if is_private(file) else None
