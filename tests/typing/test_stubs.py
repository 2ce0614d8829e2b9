"""Stubs of attributes, under type checkers: rule W13."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spatch_core import BackendSystem
from spatch_core.switching import stub

pytestmark = pytest.mark.slow

LIBRARY = """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._attributes import *
"""
OWN: dict[str, object] = {"pi": 3.14, "float64": float}
# As array libraries call their attributes.
OWN |= {"float": float, "bool": bool, "int": 3, "type": list, "Any": "any", "builtins": None}
PROGRAM = """
from typing import Any
import mylib
from typing_extensions import assert_type

assert_type(mylib.pi, float)
assert_type(mylib.float64, type[Any])
assert_type(mylib.float, type[Any])
assert_type(mylib.int, int)
assert_type(mylib.Any, str)
"""


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_type_checkers_know_the_attributes(tmp_path: Path, checker: str) -> None:
    """W13: and report a misspelt one."""
    pytest.importorskip(checker)
    system = BackendSystem(None, "STUBBED")
    package = tmp_path / "mylib"
    package.mkdir()
    (package / "__init__.py").write_text(LIBRARY)
    (package / "py.typed").touch()
    (package / "_attributes.pyi").write_text(stub(system, "mylib", OWN))

    def check(program: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "program.py").write_text(program)
        options = {"mypy": ["--strict", "--cache-dir", str(tmp_path / "cache")], "pyright": []}
        return subprocess.run(
            [sys.executable, "-m", checker, *options[checker], "program.py"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )

    right = check(PROGRAM)
    assert right.returncode == 0, right.stdout
    wrong = check(PROGRAM + "mylib.pie\n")
    assert wrong.returncode == 1
    assert "pie" in wrong.stdout
