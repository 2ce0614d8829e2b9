"""``spatch-core stubs``: what it writes, and says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Site

FILTERS = """
from ._dispatch import system

@system.dispatchable(["x"])
def blur(x): return x

class Filter:
    @system.dispatchable(["x"])
    def apply(self, x): return x
"""


def test_each_module_has_a_stub(paint: Site) -> None:
    """No backend is imported, and methods are left out."""
    paint.install_library({"paintlib/filters.py": FILTERS})
    answer = paint.run("stubs", "paintlib")
    assert (answer.code, answer.errors) == (0, "")
    assert "paintlib.filters:Filter.apply" in answer.output
    assert answer.output.endswith("typings: 2 files, 1 function\n")
    typings = paint.folder / "typings"
    files = sorted(str(each.relative_to(typings)) for each in typings.rglob("*.pyi"))
    assert files == ["paintlib/__init__.pyi", "paintlib/filters.pyi"]
    text = (typings / "paintlib" / "filters.pyi").read_text()
    assert "def __call__(self, x: _fractions.Fraction) -> _Any: ..." in text
    # A second run changes nothing.
    assert paint.run("stubs", "paintlib", "-o", "typings").code == 0
    assert (typings / "paintlib" / "filters.pyi").read_text() == text


def test_a_file_of_the_users_stops_it(paint: Site) -> None:
    (paint.folder / "own" / "paintlib").mkdir(parents=True)
    (paint.folder / "own" / "paintlib" / "filters.pyi").write_text("")
    answer = paint.run("stubs", "paintlib", "-o", "own")
    assert answer.code == 1
    assert "was not written by this command; nothing was written" in answer.errors


@pytest.mark.parametrize("name", ["pant", "paintlib.filters"])
def test_an_unknown_library_is_wrong_usage(paint: Site, name: str) -> None:
    answer = paint.run("stubs", name)
    assert answer.code == 2
    assert "did you mean paintlib?" in answer.errors
