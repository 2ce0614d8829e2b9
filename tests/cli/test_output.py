"""How results are shown, in a terminal and elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from spatch_core.cli.output import Cell, Column, Notes, Part, Table, laid_out, plain
from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from collections.abc import Sequence

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


@pytest.mark.parametrize("width", [80, 60, 40])
def test_nothing_is_cut_in_a_terminal(studio: Site, width: int) -> None:
    """Text is wrapped, and only a word that is longer than a line is broken."""
    answer = studio.run_in_terminal("list", "paintlib", width=width)
    lines = STYLE.sub("", answer.output).splitlines()
    assert max(map(len, lines)) <= width
    starts = [line.split()[0] for line in lines if line[:1].isalpha()]
    names = ["default", "oil", "gouache-with-a-long-name", "water"]
    assert starts[: len(names) + 1] == ["paintlib", *names]
    words = [word.strip(",;") for line in lines for word in line.split()]
    own = ["builtins:int", "(secondary)", "paint-gouache-with-a-long-name", "paint-water"]
    assert {*own, TYPES[0], "PAINTLIB_PRIORITIZE=gouache-with-a-long-name"} - {*words} == (
        set() if width > 44 else {"PAINTLIB_PRIORITIZE=gouache-with-a-long-name"}
    )
    assert TYPES[1] in "".join(line.strip() for line in lines)
    assert "…" not in answer.output
    assert "..." not in answer.output
    assert answer.code == 1


def test_libraries_stand_apart_in_a_terminal(paint: Site) -> None:
    """An empty line precedes each library but the first."""
    write_distribution(
        paint.folder,
        "ink-lib",
        entry_points={"spatch_core.libraries": {"inklib": "inklib:system"}},
        files={
            "inklib.py": "from spatch_core import BackendSystem\nsystem = BackendSystem(None, 'I')"
        },
    )
    output = STYLE.sub("", paint.run_in_terminal("list").output)
    assert "\n\npaintlib  paint-lib 2.5\n" in output
    assert not output.startswith("\n")


def test_notes_are_whole_in_a_terminal(studio: Site) -> None:
    """Markup in third-party text is shown literally."""
    answer = studio.run_in_terminal("list", "paintlib")
    text = re.sub(r"\s", "", STYLE.sub("", answer.output))
    problem = (
        f"water (paint-water 1.0, {studio.folder}/paint_water/backend.toml): "
        "primary_types[0]: '[bold]no :art: identifier[/]' is not a type pattern"
    )
    assert problem.replace(" ", "") in text


def test_a_terminal_gets_colours_unless_it_asks_for_none(studio: Site) -> None:
    """A NO_COLOR that is not empty removes all styles."""
    styled = studio.run_in_terminal("list", "paintlib").output
    assert "\x1b[32mactive" in styled
    assert studio.run_in_terminal("list", "paintlib", NO_COLOR="").output == styled
    assert studio.run_in_terminal("list", "paintlib", NO_COLOR="1").output == STYLE.sub("", styled)


def test_a_pipe_gets_neither_colours_nor_boxes(studio: Site) -> None:
    """Variables about the terminal do not matter."""
    output = studio.run("list", "paintlib", FORCE_COLOR="1", TERM="xterm-256color").output
    assert output.isascii()
    assert "\x1b" not in output


def test_explain_is_whole_in_a_terminal(studio: Site) -> None:
    """Reasons are not cut, either."""
    answer = studio.run_in_terminal("explain", "paintlib.filters:blur", "builtins:int", width=60)
    text = STYLE.sub("", answer.output)
    assert "none of the types is a primary type of it" in " ".join(text.split())
    assert "\ndefault\n    verdict: runs\n" in text
    assert max(map(len, text.splitlines())) <= 60
    assert answer.code == 0


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


def test_plain_tables_are_aligned_and_have_no_gaps() -> None:
    """Empty cells have a dash, several values have a row each, numbers are right-aligned."""
    columns = (Column("name"), Column("count", is_number=True), Column("types"))
    rows: list[tuple[Cell, ...]] = [
        ("first", "1", ("a\n1", "b")),
        ("2nd", "", ()),
        ("third-of-all", "10000", "c"),
        ("颜", "7", ""),
    ]
    assert plain(["Heading", Table(columns, rows), "Another", Notes("Notes", ["x", "y"])]) == (
        "Heading\n"
        "NAME          COUNT  TYPES\n"
        "first             1  a, 1\n"
        "first             1  b\n"
        "2nd               -  -\n"
        "third-of-all  10000  c\n"
        "颜                7  -\n"
        "\n"
        "Another\n"
        "Notes:\n"
        "  x\n"
        "  y\n"
    )


def test_a_row_that_is_too_wide_goes_on_in_further_lines() -> None:
    """Empty cells are left out; prose is wrapped first, and names stay whole."""
    names = [f"scipy-dispatch-{name}" for name in ("cupy", "dask")]
    columns = (Column("backend"), Column("types"), Column("n", is_number=True))
    rows: list[tuple[Cell, ...]] = [
        (names[0], ("a:A", "b:B"), "10", "it does not know any of these types"),
        (names[1], "a:A", "", ""),
    ]
    parts = [Table((*columns, Column("why", is_prose=True)), rows)]
    assert for_terminal(parts, 60) == (
        "Backend              Types   N  Why\n"
        "scipy-dispatch-cupy  a:A    10  it does not know any of\n"
        "                     b:B        these types\n"
        "scipy-dispatch-dask  a:A\n"
    )
    assert for_terminal(parts, 40) == (
        "scipy-dispatch-cupy\n"
        "    types: a:A, b:B; n: 10; why: it\n"
        "        does not know any of these types\n"
        "scipy-dispatch-dask\n"
        "    types: a:A\n"
    )
    assert max(map(len, for_terminal(parts, 24).splitlines())) <= 24
    assert for_terminal([Table((columns[0], columns[1]), [row[:2] for row in rows])], 23) == (
        "scipy-dispatch-cupy\n    a:A, b:B\nscipy-dispatch-dask\n    a:A\n"
    )
    numbered = [Table((Column("#", is_number=True), *columns), [("1", *rows[0][:3])])]
    assert for_terminal(numbered, 30) == "1 scipy-dispatch-cupy\n    types: a:A, b:B; n: 10\n"


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("one two three", 12, "one two\n    three\n"),
        ("to scipy-dispatch-cupy", 23, "to\n    scipy-dispatch-cupy\n"),
        ("to scipy-dispatch-cupy", 22, "to scipy-dispatch-\n    cupy\n"),
        (
            "x.y:blur(scipy-dispatch-cupy) runs",
            16,
            "x.y:blur(\n    scipy-\n    dispatch-\n    cupy) runs\n",
        ),
        ("scipy-dispatch-cupy", 23, "scipy-dispatch-cupy\n"),
        ("/paint_oil/backend.toml):", 28, "/paint_oil/backend.\n    toml):\n"),
        ("abcdefghij", 8, "abcd\n    efgh\n    ij\n"),
        ("颜料 颜", 8, "颜料\n    颜\n"),
        ("a  b", 80, "a  b\n"),
        ("", 80, "\n"),
    ],
)
def test_lines_are_broken_between_words(text: str, width: int, expected: str) -> None:
    """Further lines are indented.

    Only a word that is longer than a line is broken: after a punctuation mark, if it has one.
    """
    assert for_terminal([Notes("", [text])], width) == expected


def test_commands_to_be_pasted_are_never_broken() -> None:
    """The terminal breaks what is too long, and copies it in one line."""
    notes = Notes("Next", ["cd some/where/else"], are_commands=True)
    assert for_terminal([notes], 10) == "Next:\n  cd some/where/else\n"


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


def for_terminal(parts: Sequence[Part], width: int) -> str:
    """Lay parts out without styles."""
    return laid_out(parts, Console(width=width, color_system=None))
