"""The page about the architecture names the modules that there are, in the order of their use."""

from __future__ import annotations

import re
import subprocess
import sys
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


def test_the_table_is_that_of_the_code() -> None:
    """If this fails, run ``python tools/architecture.py``."""
    tool = [sys.executable, architecture.__file__, "--check"]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_module_has_one_row_in_the_order_of_the_contract() -> None:
    """From below to above: the contract of import-linter has them from above to below."""
    table = TEXT.split(architecture.START)[1].split(architecture.END)[0]
    rows = re.findall(r"^\| `(\w+)(/?)` \|", table, re.MULTILINE)
    assert [name for name, _ in rows] == architecture.modules()
    package = architecture.PACKAGE
    packages = {file.parent.name for file in package.glob("*/__init__.py")}
    modules = {file.stem for file in package.glob("*.py")} - {"__init__"}
    assert {name for name, slash in rows if slash} == packages
    assert {name for name, slash in rows if not slash} == modules
    assert len(rows) == len(packages | modules)


@pytest.mark.parametrize("name", ["call", "description"])
def test_drawings_name_what_there_is(name: str) -> None:
    """Each identifier leads to a function or a class of the package."""
    identifiers = named(drawing(name))
    assert identifiers
    for identifier in identifiers:
        assert callable(find(identifier)), identifier


def test_the_places_in_which_to_look_exist() -> None:
    """Each row names modules, packages, or functions and classes in modules."""
    section = TEXT.split("## Where to find what")[1].split("\n## ")[0]
    rows = re.findall(r"^\|.*\|(.*)\|$", section, re.MULTILINE)
    assert len(rows) > 2
    for row in rows[2:]:
        places = re.findall(r"`(_?[a-z][\w./:]*)`", row)
        assert places, row
        for place in places:
            if ":" in place:
                assert callable(find(place)), place
            elif place.endswith(("/", ".c")):
                assert (architecture.PACKAGE / place).exists(), place
            else:
                assert find_spec(f"spatch_core.{place}"), place
    for place in re.findall(r"`(_\w+)`", TEXT):
        assert find_spec(f"spatch_core.{place}"), place


def code_of(identifier: str) -> CodeType:
    """Return the code that runs when what an identifier names is called."""
    found = find(identifier)
    if isinstance(found, type):
        found = vars(found)["__init__"]
    code: CodeType = found.__code__
    return code


class Run:
    """The functions that ran, in order of their first calls, each with those that called it."""

    def __init__(self) -> None:
        self.callers: dict[CodeType, set[CodeType]] = {}

    def watch(self, frame: FrameType, event: str, _: object) -> None:
        """Take an event of the profiler."""
        if event == "call" and frame.f_code not in self.callers:
            outer, callers = frame.f_back, set()
            while outer is not None:
                callers.add(outer.f_code)
                outer = outer.f_back
            self.callers[frame.f_code] = callers


def drawn_callers(text: str) -> dict[str, str]:
    """Return the identifiers of a drawing that stand below and to the right of another one."""
    found: dict[str, str] = {}
    above: dict[int, str | None] = {}
    for line in text.splitlines():
        column = re.search(r"\w", line)
        if column is None:
            continue
        above = {place: each for place, each in above.items() if place < column.start()}
        identifier = next(iter(named(line)), None)
        caller = above[max(above)] if above else None
        if identifier is not None and caller is not None:
            found[identifier] = caller
        above[column.start()] = identifier
    return found


def test_drawings_have_the_order_in_which_things_happen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything drawn runs; what is further down runs later, and callers are drawn as callers."""
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
    runs = Run(), Run()
    try:
        sys.setprofile(runs[0].watch)
        system = BackendSystem("drawn.backends", "DRAWN")
        f: Any = system.dispatchable("x", module="drawn", qualname="f")(lambda x: "default")
        asked_answer = f(1)
        sys.setprofile(runs[1].watch)
        plain_answer = f("text")
    finally:
        sys.setprofile(None)
    assert asked_answer == plain_answer == "default"
    for name in ("call", "description"):
        drawn = {each: code_of(each) for each in named(drawing(name))}
        assert [
            each for each, code in drawn.items() if not any(code in run.callers for run in runs)
        ] == []
        callers = drawn_callers(drawing(name))
        assert callers
        for run in runs:
            order = [*run.callers]
            ran = [each for each, code in drawn.items() if code in run.callers]
            assert sorted(ran, key=lambda each: order.index(drawn[each])) == ran
            for each in ran:
                if each in callers:
                    assert drawn[callers[each]] in run.callers[drawn[each]], each
