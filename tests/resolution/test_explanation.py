"""Explanations and traces, as people read them, also in notebooks."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core.testing import run_python
from spatch_core.types import Explanation, TraceEvent


class Own:
    """The library's type."""


class Foreign:
    """The backends' type."""


def first(x: Any, n: int = 0) -> Any:
    return NotImplemented if n == 1 else "first"


def second(x: Any, n: int = 0) -> Any:
    return f(Own()) if n == 2 else "second"


def wants_two(context: Any, x: Any, n: int = 0) -> Any:
    return n < 2 or "n is too large"


BACKENDS = [
    {
        "name": "first",
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {
            "lib:f": {"function": f"{__name__}:first", "should_run": f"{__name__}:wants_two"}
        },
    },
    {
        "name": "second",
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {"lib:f": {"function": f"{__name__}:second"}},
    },
]
system = BackendSystem(None, "DEFERLIB", [f"{__name__}:Own"], BACKENDS)


@system.dispatchable("x", module="lib", qualname="f")
def f(x: Any, n: int = 0) -> Any:
    return "default"


def lines(explanation: Explanation) -> list[str]:
    """Return the lines of an explanation, without the space that aligns them."""
    return [" ".join(line.split()) for line in str(explanation).splitlines()]


def test_explanation_reads_as_a_table() -> None:
    """F7: a straight answer to "what would run, and why?"."""
    foreign = f"{Foreign.__module__}:Foreign"
    assert lines(f.explain(Foreign(), 2)) == [
        f"lib:f({foreign})",
        "first defers: n is too large",
        "> second runs",
        "default comes later",
    ]
    assert lines(f.explain(None)) == [
        "lib:f(no dispatch types)",
        "first does not match: no argument has a type to dispatch on",
        "second does not match: no argument has a type to dispatch on",
        "> default runs: no backend takes the call",
    ]
    assert lines(system.explain_types("lib:f", [Foreign])) == [
        f"lib:f({foreign})",
        f"first would be asked: {Foreign.__module__}:wants_two decides",
        "second runs: unless one above does",
        "default comes later",
    ]
    assert str(f.explain(Foreign()).backends[0]) == "first runs"
    assert str(f.explain(3).backends[-1]) == "default runs: no backend takes the call"


def test_a_disabled_default_does_not_come_later() -> None:
    """A call never reaches it; without a backend, the call would be refused."""
    with system.backend_opts(disable="default"):
        assert lines(f.explain(Foreign(), 2))[-1] == "default inactive: it is disabled"
        assert lines(f.explain(None))[-1].startswith("default would refuse: the library's own")


def test_explanation_can_be_kept() -> None:
    """It is plain data: compared, copied, pickled."""
    explanation = f.explain(Foreign())
    assert explanation == f.explain(Foreign())
    assert explanation != f.explain(Own())
    assert pickle.loads(pickle.dumps(explanation)) == copy.deepcopy(explanation) == explanation
    assert isinstance(explanation, Explanation)
    with pytest.raises(FrozenInstanceError):
        explanation.selected = "second"  # type: ignore[misc]


PACKAGE = Path(spatch_core.__file__).parents[1]


def trace(*calls: Any) -> list[TraceEvent]:
    with system.backend_opts(trace=True) as events:
        for args in calls:
            f(*args)
    return list(events)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((Own(),), ["lib:f -> default called"]),
        ((3,), ["lib:f -> default called: no backend takes the call"]),
        ((Foreign(),), ["lib:f -> first called"]),
        (
            (Foreign(), 1),
            [
                "lib:f -> first called",
                "lib:f -> first deferred: it returned NotImplemented",
                "lib:f -> second called",
            ],
        ),
        (
            (Foreign(), 2),
            [
                "lib:f -> first deferred: n is too large",
                "lib:f -> second called",
                "lib:f -> default called",
            ],
        ),
    ],
    ids=["own", "fallback", "answers", "defers afterwards", "defers before and calls again"],
)
def test_events_tell_what_happened(args: Any, expected: list[str]) -> None:
    """S6, C3, C6: the candidates in order, and why they deferred; inner calls after outer ones."""
    assert list(map(str, trace(args))) == expected


def test_events_of_a_call_that_fails() -> None:
    """S6: the event is recorded before the implementation runs, so it shows which one failed."""
    wrong: Any = (Foreign(), "wrong", 3)
    with system.backend_opts(trace=True) as events, pytest.raises(TypeError):
        f(*wrong)
    assert [event.backend for event in events] == []
    with system.backend_opts(trace=True, disable="first") as events, pytest.raises(TypeError):
        f(*wrong)
    assert [event.backend for event in events] == ["second"]


@pytest.mark.parametrize("value", ["1", "0"])
def test_a_variable_traces_a_program_that_one_cannot_edit(tmp_path: Path, value: str) -> None:
    """S8, S6: a line on stderr for each event, unless a block has a trace of its own."""
    (tmp_path / "traced.py").write_text(
        "from spatch_core import BackendSystem\n"
        "backend = {'name': 'shout', 'primary_types': ['builtins:str'],\n"
        "           'functions': {'traced:f': {'function': 'builtins:repr'}}}\n"
        "system = BackendSystem(None, 'TRACEDLIB', ['builtins:int'], [backend])\n"
        "@system.dispatchable('x')\n"
        "def f(x): return x\n"
    )
    done = run_python(
        """
        from traced import f, system
        f("a")
        with system.backend_opts(disable="shout"):
            f("a")
        with system.backend_opts(trace=True):
            f("a")
        f(1)
        """,
        path=[tmp_path, PACKAGE],
        environment={"TRACEDLIB_TRACE": value},
    )
    printed = ["shout called", "default called: no backend takes the call", "default called"]
    assert done.stdout == ""
    assert done.stderr.splitlines() == [f"traced:f -> {each}" for each in printed if value == "1"]


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
