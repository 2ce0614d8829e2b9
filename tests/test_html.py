"""Explanations, traces and options in notebooks, which show their HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import spatch_core
from spatch_core import BackendSystem

FOLDERS = [Path(spatch_core.__file__).parents[1]]


class Odd:
    """The type of a backend whose answers need escaping."""


def says(context: Any, x: Any) -> Any:
    return "<b>no</b> & &lt;why&gt;"


class Elements(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_notebooks_show_the_text_that_print_shows() -> None:
    """Of explanations, traces and options; HTML in a reason is text."""
    odd = {
        "name": "odd",
        "primary_types": [f"{__name__}:Odd"],
        "functions": {"lib:f": {"function": lambda x: "odd", "should_run": says}},
    }
    system = BackendSystem(None, "HTML", ["builtins:float"], backends=[odd])
    f: Any = system.dispatchable("x", identifier="lib:f")(lambda x: "own")
    with system.backend_opts(trace=True, type=Odd) as trace:
        f(Odd())
        options = system.backend_opts()
    explanation = f.explain(Odd())
    for shown in (explanation, trace, options):
        page = Elements(shown._repr_html_())
        assert page.text == str(shown)
        assert page.names == ["pre"]
    assert "<b>no</b> & &lt;why&gt;" in str(explanation)
    assert "<b>no</b> & &lt;why&gt;" in str(trace)
