"""The page about the architecture names the rooms and modules that there are, and their order."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import architecture
from spatch_core import BackendSystem
from spatch_core.testing import write_distribution

PAGE = architecture.PAGE
TEXT = PAGE.read_text(encoding="utf-8")
IDENTIFIER = re.compile(r"\b(_\w+(?:\.\w+)?):([A-Za-z_][\w.]*)")


def drawing(name: str) -> str:
    """Return a drawing of the page."""
    return TEXT.split(f"<!--- drawing: {name} -->")[1].split("```")[1]


def named(text: str) -> list[str]:
    """Return the identifiers in a drawing, without the package."""
    return [f"{module}:{qualname}" for module, qualname in IDENTIFIER.findall(text)]


def find(identifier: str) -> Any:
    """Return what an identifier of a drawing names."""
    module, qualname = identifier.split(":")
    found: Any = import_module(f"spatch_core.{module}")
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def first_cells(text: str) -> list[str]:
    """Return the first cells of the tables in a text, without their heads."""
    rows = re.findall(r"^\|(.*?)\|", text, re.MULTILINE)
    return [row.strip() for row in rows if row.startswith((" `", " ["))]


def test_the_tables_are_those_of_the_code() -> None:
    """If this fails, run ``python tools/architecture.py``."""
    tool = [sys.executable, architecture.__file__, "--check"]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_module_has_one_row() -> None:
    """The modules of each room stand in the table of that room, and no others."""
    parts = re.split(r"^### Room `(\w+)/`$", TEXT.split(architecture.END)[0], flags=re.MULTILINE)
    for room, text in zip(parts[1::2], parts[2::2], strict=True):
        files = [*(architecture.PACKAGE / room).glob("*.[pc]*")]
        modules = {file.stem for file in files if file.suffix in {".py", ".c"}} - {"__init__"}
        assert Counter(first_cells(text)) == Counter(f"`{name}`" for name in modules)


def test_rooms_have_the_order_of_the_contract() -> None:
    """From below to above: the contract of import-linter has them from above to below."""
    overview = TEXT.split(architecture.START)[1].split("###")[0]
    cells = [re.findall(r"`(\w+)/?`", cell)[0] for cell in first_cells(overview)]
    assert cells == architecture.layers("rooms")
    package = architecture.PACKAGE
    folders = {file.parent.name for file in package.glob("*/__init__.py")}
    modules = {file.stem for file in package.glob("*.py")} - {"__init__"}
    assert set(cells) == folders | modules
    rooms = re.findall(r"^### Room `(\w+)/`$", TEXT, re.MULTILINE)
    assert rooms == architecture.rooms()
    assert set(rooms) == folders


def test_every_room_says_what_comes_in_and_what_goes_out() -> None:
    """The file that makes a folder a package says that, and has no code."""
    for room in architecture.rooms():
        if room.startswith("_"):
            assert re.fullmatch(
                r".* comes? in; .* (go|goes) out.*\.", architecture.first_line(room)
            )
            file = architecture.PACKAGE / room / "__init__.py"
            assert len(ast.parse(file.read_text(encoding="utf-8")).body) == 1


@pytest.mark.parametrize("name", ["call", "description"])
def test_drawings_name_what_there_is(name: str) -> None:
    """Each identifier leads to a function or a class of the package."""
    identifiers = named(drawing(name))
    assert identifiers
    for identifier in identifiers:
        assert callable(find(identifier)), identifier


def test_places_to_look_for_exist() -> None:
    """Rooms and modules in the prose, too."""
    for room in re.findall(r"`(\w+)/`", TEXT):
        assert (architecture.PACKAGE / room / "__init__.py").exists(), room
    for file in re.findall(r"\b(_\w+/\w+\.c)\b", TEXT):
        assert (architecture.PACKAGE / file).exists(), file


def test_the_modules_in_which_to_look_exist() -> None:
    """Each row names a module or a room."""
    rows = re.findall(r"^\|.*\|(.*)\|$", TEXT.split("## Where to find what")[1], re.MULTILINE)
    for row in rows[2:]:
        places = re.findall(r"`(_?[a-z][\w.]*)/?`", row)
        assert places, row
        for place in places:
            # An extension is not built for every Python.
            source = Path(architecture.PACKAGE, *place.split("."))
            assert find_spec(f"spatch_core.{place}") or source.with_suffix(".c").exists(), place


def code_of(identifier: str) -> CodeType:
    """Return the code that runs when what an identifier names is called."""
    found = find(identifier)
    if isinstance(found, type):
        found = vars(found)["__init__"]
    code: CodeType = found.__code__
    return code


def test_drawings_have_the_order_in_which_things_happen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that is drawn runs, and what is drawn further down runs later."""
    monkeypatch.syspath_prepend(tmp_path)
    # Asked first in calls with an integer, and called at once in those with a string.
    asked, plain = 'should_run = "drawn_backends:fits"', ""
    write_distribution(
        tmp_path,
        "drawn-backends",
        entry_points={
            "drawn.backends": {name: f"drawn_backends:{name}.toml" for name in ("int", "str")}
        },
        files={
            "drawn_backends/__init__.py": """
            def fits(context, x):
                return True

            def implementation(x):
                return NotImplemented
            """,
            **{
                f"drawn_backends/{name}.toml": f"""
                name = "{name}"
                primary_types = ["builtins:{name}"]
                [functions."drawn:f"]
                function = "drawn_backends:implementation"
                {more}
                """
                for name, more in (("int", asked), ("str", plain))
            },
        },
    )
    seen: list[CodeType] = []

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            seen.append(frame.f_code)

    sys.setprofile(watch)
    try:
        system = BackendSystem("drawn.backends", "DRAWN")
        f: Any = system.dispatchable("x", module="drawn", qualname="f")(lambda x: "default")
        assert f(1) == f("text") == "default"
    finally:
        sys.setprofile(None)
    for name in ("call", "description"):
        drawn = named(drawing(name))
        assert [each for each in drawn if code_of(each) not in seen] == []
        assert sorted(drawn, key=lambda each: seen.index(code_of(each))) == drawn
