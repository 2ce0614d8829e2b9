"""The table of functions by backends, in the pages that Sphinx builds."""

from __future__ import annotations

import pytest

from tests.sphinx.conftest import ADDRESS, Build, Elements

pytest.importorskip("numpydoc")
pytest.importorskip("sphinx")


def test_the_functions_by_backend(build: Build) -> None:
    """Every cell has a word; headers, backends and documented functions have links."""
    html = build()

    elements = Elements(html)
    assert elements.caption == (
        "Functions of artlib by backend; where it asks, the arguments of a call decide"
    )
    assert elements.rows == [
        [("th", "function"), ("th", "oil"), ("th", "water_")],
        [("th", "artlib.Canvas.draw"), ("td", "yes"), ("td", "no")],
        [("th", "artlib.blend"), ("td", "no"), ("td", "no")],
        [("th", "artlib.blur"), ("td", "asks"), ("td", "yes")],
        [("th", "builtins.max"), ("td", "yes"), ("td", "no")],  # the library has adopted it
    ]
    assert [text for href, text in elements.links if href == ADDRESS] == ["oil"] * 3
    assert ("#artlib.blur", "artlib.blur") in elements.links
    assert ("#artlib.blend", "artlib.blend") not in elements.links  # it is not documented


def test_a_library_that_is_not_chosen(build: Build) -> None:
    page = "Art\n===\n\n.. spatch-backends:: artlip\n"
    build(page, expects="no backends are chosen for a library 'artlip': did you mean 'artlib'?")
