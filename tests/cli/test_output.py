"""How results are shown, in a terminal and elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Site

STYLE = re.compile(r"\x1b\[[0-9;]*m")
TYPES = ["fractions:Fraction", f"{'a_long_package_name.' * 5}core:AnArrayWithALongName"]


@pytest.fixture
def studio(paint: Site) -> Site:
    """A library whose tables are wider than 80 columns."""
    paint.install_backend(
        "gouache-with-a-long-name", f"primary_types = {TYPES}\nrequires_opt_in = true\n"
    )
    paint.install_backend("water", "primary_types = ['[bold]no :art: identifier[/]']\n")
    return paint


def test_a_pipe_gets_neither_colours_nor_boxes(studio: Site) -> None:
    """Variables about the terminal do not matter."""
    output = studio.run("list", "paintlib", FORCE_COLOR="1", TERM="xterm-256color").output
    assert output.isascii()
    assert "\x1b" not in output


def test_names_that_an_encoding_lacks_are_escaped(paint: Site) -> None:
    """All other text is shown."""
    paint.install_backend("öl", 'primary_types = ["fractions:Fraction"]\n')
    assert paint.run("list", "paintlib").row("öl")[1] == "active"
    answer = paint.run("list", "paintlib", PYTHONIOENCODING="ascii")
    assert answer.row(r"\xf6l")[1] == "active"
    terminal = paint.run_in_terminal("list", "paintlib", PYTHONIOENCODING="ascii")
    assert r"\xf6l" in terminal.output
    assert answer.code == terminal.code == 0
    assert paint.run("list", "paintlib", "--json", PYTHONIOENCODING="ascii").json


def test_control_characters_of_others_do_nothing(paint: Site) -> None:
    """They are escaped, and lines stay in their place."""
    paint.install_backend("water", "primary_types = 1\n")
    metadata = paint.folder / "paint_water-1.0.dist-info" / "entry_points.txt"
    metadata.write_text("[paintlib.backends]\nwater = paint_water:backend\n", encoding="utf-8")
    code = r"""raise ImportError("\x1b[31mred\nand more")"""
    (paint.folder / "paint_water" / "__init__.py").write_text(code, encoding="utf-8")
    answer = paint.run("list", "paintlib")
    assert r"ImportError: \x1b[31mred, and more. Repair" in answer.output
    assert "\x1b[31mred" not in paint.run_in_terminal("list", "paintlib").output


def test_no_name_of_a_backend_is_broken_at_80_columns(paint: Site) -> None:
    """Nor that of a distribution, a type or a function."""
    names = [f"scipy-dispatch-cupy-{number}" for number in range(3)]
    for name in names:
        package = f"paint_{name}".replace("-", "_")
        paint.install_backend(
            name,
            'primary_types = ["fractions:Fraction", "nowhere_at_all.arrays:ndarray"]\n'
            f'[functions."paintlib.filters:blur"]\nfunction = "{package}:blur"\n',
        )
    whole = {*names, *(f"paint-{name}" for name in names), "nowhere_at_all.arrays:ndarray"}
    answer = paint.run_in_terminal("list", "paintlib", NO_COLOR="1")
    assert whole <= {word.strip(",;") for word in answer.output.split()}
    for command in ("doctor", "order", "functions"):
        answer = paint.run_in_terminal(command, "paintlib", NO_COLOR="1")
        assert {*names} <= {*re.split(r"[\s:,]+", answer.output)}, command
