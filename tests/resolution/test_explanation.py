"""Explanations and traces: what they say, and that it is what a call does."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from html import escape
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core.testing import run_python
from spatch_core.types import Explanation, Verdict
from tests.library import HERE, Foreign, Other, Own, answering, describe, make


def first(x: Any, n: int = 0) -> Any:
    return NotImplemented if n == 1 else "first"


def second(x: Any, n: int = 0) -> Any:
    return f(Own()) if n == 2 else "second"


def wants_two(context: Any, x: Any, n: int = 0) -> Any:
    return n < 2 or "n is too large"


def default(x: Any, n: int = 0) -> Any:
    return "default"


system, f = make(
    describe("first", first, should_run=f"{__name__}:wants_two"),
    describe("second", second),
    default=default,
)


def lines(explanation: Explanation) -> list[str]:
    """Return the lines of an explanation, without the space that aligns them."""
    return [" ".join(line.split()) for line in str(explanation).splitlines()]


def verdicts(explanation: Explanation) -> dict[str, tuple[Verdict, str]]:
    return {each.backend: (each.verdict, each.reason) for each in explanation.backends}


def test_an_explanation_reads_as_a_table() -> None:
    """F7: a straight answer to "what would run, and why?"."""
    assert lines(f.explain(Foreign(), 2)) == [
        f"lib:f({HERE}:Foreign)",
        "first defers: n is too large",
        "> second runs",
        "default comes later",
    ]
    subclass = type("Mine", (Foreign,), {"__module__": HERE})
    known = f"(it knows {HERE}:Foreign; '~{HERE}:Foreign' has the subclasses)"
    assert f"first does not match: it does not know {HERE}:Mine {known}" in lines(
        f.explain(subclass())
    )
    assert lines(f.explain(None)) == [
        "lib:f(no dispatch types)",
        "first does not match: no argument has a type to dispatch on",
        "second does not match: no argument has a type to dispatch on",
        "> default runs: no backend takes the call",
    ]


def test_types_alone_ask_no_backend() -> None:
    """F7: `explain_types` says which ones would be asked, and what then."""
    found = system.explain_types("lib:f", [Foreign, Foreign])
    assert (found.types, found.selected) == ((Foreign,), None)
    assert lines(found) == [
        f"lib:f({HERE}:Foreign)",
        f"first would be asked: {__name__}:wants_two decides",
        "second runs: unless one above does",
        "default comes later",
    ]
    with system.backend_opts(disable="first", type=Foreign):
        assert system.explain_types("lib:f", []).selected == "second"
        assert system.explain_types("lib:f", [Other]).selected == "second"
    with pytest.raises(KeyError, match="lib:g"):
        system.explain_types("lib:g", [])


def test_every_backend_has_its_reason() -> None:
    """F7: what would run, and why all others would not."""
    system, f = make(
        describe("first", should_run=answering("the array is small")),
        describe("second", functions={}, requires_opt_in=True),
        describe("third"),
        describe("later"),
        describe("opted", requires_opt_in=True),
        describe("other", types="Other"),
        describe("off"),
        describe("unmet", requires=["no-such-distribution"]),
        describe("partly", types="Other", also="Foreign"),
    )
    with system.backend_opts(disable="off"):
        explanation = f.explain(Foreign())
    assert explanation.function == "lib:f"
    assert explanation.types == (Foreign,)
    assert explanation.selected == "third"
    assert verdicts(explanation) == {
        "first": (Verdict.DEFERS, "the array is small"),
        "second": (Verdict.NO_IMPLEMENTATION, ""),
        "third": (Verdict.RUNS, ""),
        "later": (Verdict.LATER, ""),
        "opted": (Verdict.INACTIVE, "it requires opt-in: prioritize='opted'"),
        "other": (Verdict.NO_MATCH, f"it does not know {HERE}:Foreign"),
        "off": (Verdict.INACTIVE, "it is disabled"),
        "unmet": (Verdict.INACTIVE, "it requires no-such-distribution, which is not installed"),
        "partly": (Verdict.NO_MATCH, "none of the types is a primary type of it"),
        "default": (Verdict.LATER, ""),
    }
    assert explanation.backends[-1].backend == "default"


def test_all_types_that_a_backend_does_not_know_are_named() -> None:
    """F7, V1: in order of appearance, also where the default runs although it knows none."""
    _, f = make(describe("first"), describe("second", types="Other"), dispatch_args=None)
    explanation = f.explain(Own(), Foreign())
    reason = f"it does not know {HERE}:Own, {HERE}:Foreign"
    assert verdicts(explanation)["second"] == (Verdict.NO_MATCH, reason)
    explanation = f.explain(None, 3)
    assert explanation.selected == f(None, 3) == "default"
    assert verdicts(explanation)["first"] == (Verdict.NO_MATCH, "it does not know builtins:int")


def test_a_disabled_default_does_not_come_later() -> None:
    """F7: a call never reaches it; without a backend, the call would be refused."""
    with system.backend_opts(disable="default"):
        assert lines(f.explain(Foreign(), 2))[-1] == "default inactive: it is disabled"
        assert lines(f.explain(None))[-1].startswith("default would refuse: the library's own")


def test_an_explanation_can_be_kept() -> None:
    """F7: it is plain data: compared, copied, pickled."""
    explanation = f.explain(Foreign())
    assert explanation == f.explain(Foreign())
    assert explanation != f.explain(Own())
    assert pickle.loads(pickle.dumps(explanation)) == copy.deepcopy(explanation) == explanation
    with pytest.raises(FrozenInstanceError):
        explanation.selected = "second"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((Own(),), ["default called"]),
        ((3,), ["default called: no backend takes the call"]),
        ((Foreign(),), ["first called"]),
        (
            (Foreign(), 1),
            ["first called", "first deferred: it returned NotImplemented", "second called"],
        ),
        ((Foreign(), 2), ["first deferred: n is too large", "second called", "default called"]),
    ],
    ids=["own", "fallback", "answers", "defers afterwards", "defers before and calls again"],
)
def test_events_tell_what_happened(args: Any, expected: list[str]) -> None:
    """S6, C3, C6: the candidates in order, and why they deferred; inner calls after outer ones."""
    with system.backend_opts(trace=True) as events:
        f(*args)
    assert [*map(str, events)] == [f"lib:f -> {each}" for each in expected]


def test_events_of_a_call_that_fails() -> None:
    """S6: the event is recorded before the implementation runs, so it shows which one failed."""
    wrong: Any = (Foreign(), "wrong", 3)
    for disable, called in (((), []), ("first", ["second"])):
        with system.backend_opts(disable=disable, trace=True) as events, pytest.raises(TypeError):
            f(*wrong)
        assert [event.backend for event in events] == called


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
        path=[tmp_path, Path(spatch_core.__file__).parents[1]],
        environment={"TRACEDLIB_TRACE": value},
    )
    printed = ["shout called", "default called: no backend takes the call", "default called"]
    assert done.stdout == ""
    assert done.stderr.splitlines() == [f"traced:f -> {each}" for each in printed if value == "1"]


def test_notebooks_show_the_text_that_print_shows() -> None:
    """F7: of explanations, traces and options; HTML in a reason is text."""
    reason = "<b>no</b> & &lt;why&gt;"
    system, f = make(describe("odd", should_run=answering(reason)))
    with system.backend_opts(trace=True, type=Foreign) as trace:
        f(Foreign())
        options = system.backend_opts()
    explanation = f.explain(Foreign())
    for shown in (explanation, trace, options):
        assert shown._repr_html_() == f"<pre>{escape(str(shown))}</pre>"
    assert reason in str(explanation)
    assert reason in str(trace)
