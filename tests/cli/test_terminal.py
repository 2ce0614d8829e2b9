"""Every table in a pseudo-terminal of 80 columns: nothing is cut, nothing is too wide."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from spatch_core.cli import main
from tests.cli.conftest import Site

WIDTH = 80
STYLE = re.compile(r"\x1b\[[0-9;]*m")
BLUR = "paintlib.filters:blur"
LONG = "gouache-with-a-name-that-is-much-longer-than-anybody-would-like-to-type-it-every-day"
MODULE = f"a_package_with_a_long_name.{'and_more_of_it.' * 5}core"

# Everything that shows a table: to add one, add its arguments, with the code that it ends with.
TABLES = [
    pytest.param(["list", "paintlib"], 1, id="list"),
    pytest.param(["show", LONG], 0, id="show"),
    pytest.param(["show", "water"], 1, id="show broken"),
    pytest.param(["show", "paintlib"], 1, id="library"),
    pytest.param(["show", "blur"], 0, id="function"),
    pytest.param(["explain", "blur"], 0, id="every type"),
    pytest.param(["explain", BLUR, f"{MODULE}:Array"], 0, id="explain"),
    pytest.param(["doctor", "paintlib"], 1, id="doctor"),
    pytest.param(["explain", BLUR, "builtins:int", "--why-not", LONG], 0, id="why not"),
]


@pytest.fixture
def studio(paint: Site, request: pytest.FixtureRequest) -> Site:
    """A library with many long names, a broken backend and a cycle."""
    paint.install_backend(
        LONG,
        f"""
        primary_types = ["{MODULE}:Array", "builtins:str"]
        requires_opt_in = true
        higher_priority_than = ["oil"]
        [functions."{BLUR}"]
        function = "{MODULE}:blur"
        should_run = "{MODULE}:should_run"
        additional_docs = "[bold]Not[/] in bold. {"Words, words, words. " * 10}"
        """,
    )
    paint.install_backend("water", "primary_types = ['[bold]no :art: identifier[/]']\n")
    for one, other in (("a", "b"), ("b", "a")):
        paint.install_backend(
            one, f'primary_types = ["builtins:str"]\nhigher_priority_than = ["{other}"]\n'
        )
    # doctor starts a process for each, and shows a line for each, as others do.
    is_doctor = "[" in request.node.name and "doctor" in request.node.callspec.id
    for number in range(1 if is_doctor else 6):
        paint.install_backend(f"颜料-{number}", 'primary_types = ["builtins:str"]\n')
    return paint


def is_heading(cell: str) -> bool:
    """Whether a cell is the title of a column, or the dash for an empty cell."""
    return cell.strip() in ("#", "-") or cell.isupper()


def squeezed(text: str) -> str:
    """Return text without white space, in which wrapped words are whole again."""
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize(("arguments", "code"), TABLES)
def test_nothing_is_cut_without_a_sign(studio: Site, arguments: list[str], code: int) -> None:
    """Every cell and line of the piped output is there, broken only at the ends of lines."""
    piped = studio.run(*arguments, FORCE_COLOR="1", TERM="xterm-256color")
    answer = studio.run_in_terminal(*arguments)
    text = STYLE.sub("", answer.output)
    assert "\x1b[" in answer.output
    assert "\x1b" not in text + piped.output
    assert [line for line in text.splitlines() if columns(line) > WIDTH] == []
    assert "…" not in text
    cells = [cell for row in piped.rows for cell in row if not is_heading(cell)]
    assert [cell for cell in cells if squeezed(cell) not in squeezed(text)] == []
    assert (answer.code, piped.code, piped.errors) == (code, code, "")


def test_no_help_is_too_wide() -> None:
    """It holds for the help of each command, and of the group."""
    for arguments in ([], *([name] for name in main.commands)):
        answer = CliRunner().invoke(main, [*arguments, "-h"], terminal_width=WIDTH)
        assert answer.exit_code == 0
        assert max(map(len, answer.output.splitlines())) <= WIDTH, arguments


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


def test_ten_backends_are_a_table_of_80_columns(paint: Site) -> None:
    """No name is broken, of a backend or a type; NO_COLOR removes colours alone."""
    for name in ("cupy", "dask", "jax", "torch", "opencv", "numba", "threads", "xarray", "mlx"):
        paint.install_backend(
            name,
            f'primary_types = ["~{name}.arrays.core.devices:Array", "fractions:Fraction"]\n'
            "requires_opt_in = true\n"
            f'[functions."paintlib.filters:blur"]\nfunction = "m:blur"\n',
        )
    paint.install_backend("fast", 'primary_types = ["builtins:int"]\n')
    answer = paint.run_in_terminal("list", "paintlib", NO_COLOR="1")
    coloured = paint.run_in_terminal("list", "paintlib").output
    assert "\x1b[" in coloured
    assert STYLE.sub("", coloured) == answer.output
    head, *lines = answer.output.splitlines()[1:]
    assert head.split() == ["Backend", "State", "Types", "Functions", "Distribution"]
    place = head.index("Types")
    table = lines[: lines.index("Not active:")]
    assert max(map(len, table)) <= WIDTH
    for name in ("cupy", "opencv", "threads"):
        (row,) = [line for line in table if line.startswith(f"{name} ")]
        assert row[place:].startswith(f"~{name}.arrays.core.devices:Array ")
        assert " paint-" in row  # as a last resort, a word is broken behind a hyphen
    for command in (["show", "paintlib"], ["show", "blur"]):
        output = paint.run_in_terminal(*command, NO_COLOR="1").output
        assert {"threads", "opencv"} <= {*re.split(r"[\s:,]+", output)}, command


def columns(line: str) -> int:
    """How many columns a line takes; Chinese characters take two."""
    return sum(2 if "一" <= each <= "鿿" else 1 for each in line)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["doctor", "paintlib"], 1), (["lst"], 2)],
    ids=["problems", "usage"],
)
def test_a_forked_command_answers_as_one_that_starts(
    paint: Site, arguments: list[str], code: int
) -> None:
    """It has the same output, errors and exit code."""
    paint.install_backend("gone", 'primary_types = ["nowhere:T"]')
    answer = paint.run(*arguments)
    assert answer == paint.run_anew(*arguments)
    assert answer.code == code
