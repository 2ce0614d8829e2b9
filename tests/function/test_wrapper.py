"""The generated function: its source, its code, and its lines in tracebacks and debuggers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import run_python


def test_arguments_of_one_position_are_told_apart_by_name() -> None:
    """A library may rename a parameter and accept the old name too."""
    system = BackendSystem(
        None,
        "MYLIB",
        backends=[
            {
                "name": "first",
                "primary_types": [f"{__name__}:Foreign"],
                "functions": {"lib:f": {"function": f"{__name__}:implement"}},
            }
        ],
    )
    function: Any = system.dispatchable({"x": 0, "old_x": 0}, module="lib", qualname="f")(
        lambda *args, **kwargs: "default"
    )
    for args, kwargs in (((Foreign(),), {}), ((), {"x": Foreign()}), ((), {"old_x": Foreign()})):
        assert function(*args, **kwargs) == "first"
    assert function(1) == function(x=1, old_x=2) == "default"
    assert function(x=1, old_x=Foreign()) == "first"


class Foreign:
    """A backend's type."""


def implement(*args: Any, **kwargs: Any) -> Any:
    return "first"


def defer(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


@pytest.mark.parametrize("functions", ["defer", "implement"])
def test_a_finder_runs_once_in_a_call(functions: str) -> None:
    """Also where the first implementation returns ``NotImplemented``."""
    found: list[Any] = []

    def find(x: Any, y: Any = None) -> Any:
        found.append(x)
        return [x, None, y]

    description = {
        "name": "first",
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {"lib:f": {"function": f"{__name__}:{functions}"}},
    }
    system = BackendSystem(None, "MYLIB", backends=[description])
    function: Any = system.dispatchable(find, module="lib", qualname="f")(lambda x: "default")
    expected = "default" if functions == "defer" else "first"
    for number in range(1, 4):
        assert function(Foreign()) == expected
        assert len(found) == number


def test_compiling_a_shape_warns_of_nothing() -> None:
    """With warnings as errors, and without a change to the filters."""
    done = run_python(
        """
        import warnings
        warnings.simplefilter("error")
        before = list(warnings.filters)
        from spatch_core import BackendSystem
        system = BackendSystem(None, "MYLIB")
        for names in ([], ["x"], ["y", "key"], None):
            name = f"f{len(system.functions)}"
            system.dispatchable(names, module="lib", qualname=name)(lambda x=1, y=2, *, key=3: x)()
        print(warnings.filters == before)
        """,
        options=["-W", "error"],
    )
    assert done.stdout.split() == ["True"]


def test_pdb_stops_in_the_default(tmp_path: Path) -> None:
    """At a breakpoint in ``function.__wrapped__``, with and without C."""
    script = tmp_path / "script.py"
    script.write_text(
        "from spatch_core import BackendSystem\n"
        "@BackendSystem(None, 'LIB').dispatchable('x')\n"
        "def f(x):\n"
        "    return x + 1\n"
        "f(1)\n"
    )
    commands = "tbreak 5\ncontinue\nbreak f.__wrapped__\ncontinue\np ('stopped', x)\nquit\n"
    done = subprocess.run(
        [sys.executable, "-m", "pdb", str(script)],
        input=commands,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "('stopped', 1)" in done.stdout, done.stdout + done.stderr
