"""The page about the architecture names the modules that there are, in the order of their use."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

import architecture

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
