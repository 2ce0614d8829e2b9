"""Tables of results in notebooks and for rich."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from spatch_core import BackendSystem


class Odd:
    """The type of a backend whose answers need escaping."""


def says(context: Any, x: Any) -> Any:
    return "<b>[red]no[/red]</b> & why"


def system() -> Any:
    odd = {
        "name": "odd",
        "primary_types": [f"{__name__}:Odd"],
        "functions": {"lib:f": {"function": lambda x: "odd", "should_run": says}},
    }
    absent = {"name": "absent", "primary_types": ["a:B"], "requires": ["no-such-distribution"]}
    made = BackendSystem(None, "SHOWN", ["builtins:float"], backends=[odd, absent])
    return made, made.dispatchable("x", identifier="lib:f")(lambda x: "own")


class Cells(HTMLParser):
    """Reads the cells of a table, and notes unbalanced tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        if tag in ("tr", "caption"):
            self.rows.append([])
        if tag in ("th", "td", "caption"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.rows[-1][-1] += data


def test_an_explanation() -> None:
    """The backend that runs is emphasised; texts are escaped."""
    _, f = system()
    found = f.explain(Odd())
    html = found._repr_html_()
    rows = Cells(html).rows
    assert rows[0] == [str(found).partition("\n")[0]]
    assert rows[1] == ["backend", "verdict", "reason"]
    assert ["odd", "defers"] in [each[:2] for each in rows]
    assert any("<b>[red]no[/red]</b> & why" in row[-1] for row in rows)
    assert re.findall("<strong>(.*?)</strong>", html) == [found.selected]
    assert found._repr_mimebundle_() == {"text/plain": str(found), "text/html": html}


def watch(call: Any) -> Any:
    return call.next(*call.args, **call.kwargs)


def test_an_explanation_with_hooks() -> None:
    """They come first, and do not move the emphasis."""
    made, f = system()
    with made.backend_opts(hook=watch):
        html = f.explain(1.0)._repr_html_()
    assert Cells(html).rows[2] == [f"{__name__}:watch", "sees it first", "a hook"]
    assert re.findall("<strong>(.*?)</strong>", html) == ["default"]


def test_a_trace() -> None:
    """Each event has a row; an empty trace has none."""
    made, f = system()
    with made.backend_opts(trace=True) as trace:
        assert Cells(trace._repr_html_()).rows[0] == ["0 trace events"]
        f(1.0)
    rows = Cells(trace._repr_html_()).rows
    assert rows[0] == ["1 trace event"]
    assert rows[2:] == [["lib:f", "default", "called", "", "builtins:float"]]


def test_the_backends_of_a_library() -> None:
    """They are in priority order, with the reason why one is inactive."""
    made, _ = system()
    rows = Cells(made.backends._repr_html_()).rows[2:]
    assert [each[0] for each in rows] == [*made.backends]
    reason = next(row[1] for row in rows if row[0] == "absent")
    assert reason == "it requires no-such-distribution, which is not installed"


def test_options() -> None:
    """The table has the options in force."""
    made, _ = system()
    with made.backend_opts(prioritize="odd", type=Odd, trace=True, hook=watch):
        options = made.backend_opts()
        rows = dict(Cells(options._repr_html_()).rows[2:])
    assert rows.keys() == {"backends", "prioritize", "type", "trace", "hooks"}
    assert (rows["backends"], rows["type"]) == ("odd, default", f"{__name__}:Odd")
    assert options._repr_mimebundle_(include=None, exclude=None)["text/plain"] == repr(options)


def test_rich_shows_them() -> None:
    """It does not interpret markup in texts."""
    console = pytest.importorskip("rich.console").Console(file=io.StringIO(), width=200)
    made, f = system()
    with made.backend_opts(trace=True) as trace:
        f(Odd())
    for each in (f.explain(Odd()), trace, made.backend_opts(), made.backends):
        console.print(each)
    printed = console.file.getvalue()
    assert "<b>[red]no[/red]</b> & why" in printed
    assert "no-such-distribution" in printed
