"""``spatch-core functions``: which backends implement which functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spatch_core.testing import run_python

if TYPE_CHECKING:
    from tests.cli.conftest import Site

BLUR = "paintlib.filters:blur"
BLEND = "paintlib.filters:blend"


def toml(name: str, *functions: str, asks: bool = False) -> str:
    should_run = f'should_run = "paint_{name}:asks"\n' if asks else ""
    return 'primary_types = ["fractions:Fraction"]\n' + "".join(
        f'[functions."{each}"]\nfunction = "paint_{name}:f"\n{should_run}' for each in functions
    )


@pytest.fixture
def studio(paint: Site) -> Site:
    """A backend that is asked first, and one that misspells a function."""
    paint.install_backend("Water", toml("Water", BLUR, BLEND, asks=True))
    paint.install_backend("wax", toml("wax", "paintlib.filters:blurr"))
    return paint


def test_piped_it_is_a_matrix(studio: Site) -> None:
    """One column for each backend, with its name."""
    answer = studio.run("functions", "paintlib")
    assert answer.rows[:4] == [
        ["paintlib: which backends implement which functions"],
        ["FUNCTION", "default", "Water", "wax", "oil"],
        [BLEND, "yes", "asks", "-", "-"],
        [BLUR, "yes", "asks", "-", "yes"],
    ]
    assert "Implement none of them:\n  wax\n" in answer.output
    assert "Not functions of the library:\n  paintlib.filters:blurr: wax\n" in answer.output
    assert (answer.code, answer.errors) == (0, "")


def test_functions_that_the_library_has_adopted(paint: Site) -> None:
    """T1: they are functions like its own, where a backend implements them, for every command."""
    adopting = """
        import math
        from spatch_core import BackendSystem

        system = BackendSystem("paintlib.backends", "PAINTLIB")
        system.adopt(math.fsum, "math:fsum")
        system.adopt(math.hypot, "math:hypot")
        """
    paint.install_library({"paintlib/_dispatch.py": adopting})
    code = "def f(x):\n    return 'wax'\n"
    paint.install_backend("wax", toml("wax", "math:fsum", "math:fsun"), code)
    answer = paint.run("functions", "paintlib")
    assert answer.row("math:fsum") == ["math:fsum", "-", "yes", "-"]
    assert "Not functions of the library:\n  math:fsun: wax\n" in answer.output
    assert "math:hypot" not in answer.output
    shown = paint.run("show", "wax").output
    assert "Not functions of the library:\n  math:fsun\n" in shown
    explained = paint.run("explain", "math:fsum", "fractions:Fraction").output
    assert explained.startswith("math:fsum(fractions:Fraction) -> wax\n")
    verified = paint.run("verify", str(paint.folder / "paint_wax" / "backend.toml")).output
    assert "math:fsun" in verified
    assert "math:fsum" not in verified
    program = """
        import os
        from fractions import Fraction
        from paintlib._dispatch import system
        from spatch_core import hooks

        with hooks.record(os.environ["RUN"]) as recorded, system.backend_opts(hook=recorded):
            assert system.lookup("math:fsum", (Fraction,))(1) == "wax"
        """
    run_python(program, path=[paint.folder], environment={"RUN": str(paint.folder / "run.json")})
    assert paint.run("replay-check", "run.json").output.endswith("1 recorded choice: 1 same\n")


def test_problems_are_told(studio: Site) -> None:
    """A skipped backend implements nothing."""
    studio.install_backend("wax", "primary_types = 1\n")
    answer = studio.run("functions", "paintlib")
    assert answer.rows[1] == ["FUNCTION", "default", "Water", "oil"]
    place = f"paint-wax 1.0, {studio.folder}/paint_wax/backend.toml"
    assert f"\n\nProblems\nwax ({place}):\n  primary_types: 1 is not a list" in answer.output
    assert answer.output.endswith("\n\n2 functions, 3 backends; 1 problem\n")
    assert answer.code == 1


def test_the_shape_of_the_json_is_the_documented_one(studio: Site) -> None:
    """Every key; scripts rely on it."""
    answer = studio.run("functions", "paintlib", "--json")
    assert answer.json == {
        "library": "paintlib",
        "backends": ["default", "Water", "wax", "oil"],
        "functions": [
            {
                "function": BLEND,
                "backends": ["default", "Water"],
                "asks": ["Water"],
                "is_dispatchable": True,
            },
            {
                "function": BLUR,
                "backends": ["default", "Water", "oil"],
                "asks": ["Water"],
                "is_dispatchable": True,
            },
            {
                "function": "paintlib.filters:blurr",
                "backends": ["wax"],
                "asks": [],
                "is_dispatchable": False,
            },
        ],
        "problems": [],
    }
