"""Questions to the core, and the types in them."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.examination.question import Options, Question, environment, given_type

SYSTEM = BackendSystem("no such group", "ASKED", default_primary_types=["~builtins:object"])


@SYSTEM.dispatchable(["x"])
def blur(x: Any) -> Any: ...


def test_a_type_is_imported_or_stood_in_for() -> None:
    """The stand-in is the same class each time."""
    assert given_type("fractions:Fraction").type is Fraction
    absent = given_type("no_such_xyz:Outer.T")
    assert (absent.type.__module__, absent.type.__qualname__) == ("no_such_xyz", "Outer.T")
    assert "a class of the same name stands in for no_such_xyz:Outer.T" in absent.note
    assert given_type("no_such_xyz:Outer.T").type is absent.type


@pytest.mark.parametrize("identifier", ["fractions:Fractoin", "math:pi"])
def test_what_is_no_type_is_refused(identifier: str) -> None:
    with pytest.raises(ValueError, match=identifier.partition(":")[2]):
        given_type(identifier)


def test_options_are_written_as_a_call() -> None:
    assert str(Options()) == ""
    options = Options(("a",), ("b", "c"), given_type("fractions:Fraction"))
    assert str(options) == (
        "backend_opts(prioritize='a', disable=['b', 'c'], type=fractions.Fraction)"
    )


def test_the_core_answers() -> None:
    question = Question(SYSTEM, f"{__name__}:blur", (given_type("fractions:Fraction"),))
    assert question.ask().selected == "default"
    with pytest.raises(ValueError, match="gold"):
        Question(SYSTEM, f"{__name__}:blur", question.types, Options(("gold",))).ask()


def test_variables_hold_for_a_question_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A previous value is restored."""
    monkeypatch.setenv("ASKED_BLOCK", "before")
    with environment(SYSTEM, {"ASKED_BLOCK": "a", "ASKED_PRIORITIZE": ""}):
        assert os.environ["ASKED_BLOCK"] == "a"
        assert SYSTEM._catalog().environment.block == {"a"}
    assert os.environ["ASKED_BLOCK"] == "before"
    assert "ASKED_PRIORITIZE" not in os.environ
