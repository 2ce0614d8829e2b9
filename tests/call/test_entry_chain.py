"""The chain behind an entry of a table."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core._call.entry_chain import EntryChain
from spatch_core._call.progress import RETURNED, Raised
from spatch_core._call.table_entries import tries_whole_chain
from spatch_core._description.description import Implementation
from spatch_core._dispatch_arguments import Function
from spatch_core._resolution.candidate import Candidate
from spatch_core._state.state import DispatchState

HERE = __name__


class DefersError(Exception):
    """The library names it in ``defer_on``."""


class Caller:
    """As far as a chain needs it."""

    resolver: Any = None
    defer_on = (DefersError,)

    def chain(self, function: Any, state: Any, types: Any) -> Any:
        raise AssertionError


def default(x: Any) -> Any:
    return "default"


def first(x: Any) -> Any:
    return NotImplemented


def second(x: Any) -> Any:
    return "second"


def no(context: Any, x: Any) -> bool:
    return False


FUNCTION = Function("lib:f", default, "x")


def candidate(name: str, should_run: str | None = None) -> Candidate:
    implementation = Implementation(f"{HERE}:{name}", should_run)
    return Candidate(name, FUNCTION, implementation, False, "LIB_BLOCK")


LAST = Candidate("default", FUNCTION, None, False, "LIB_BLOCK")


def make(*candidates: Candidate, caller: Any = None) -> EntryChain:
    return EntryChain(FUNCTION, (int,), candidates, DispatchState(), caller)


def names(chain: EntryChain) -> list[str]:
    return [each.backend for each in chain.candidates]


@pytest.mark.parametrize(
    ("candidates", "entry"),
    [
        ([candidate("second"), LAST], second),
        ([LAST], default),
        ([candidate("second", f"{HERE}:no"), LAST], None),
        ([], None),
    ],
    ids=["plain", "default", "asked", "none"],
)
def test_a_plain_candidate_is_the_entry_itself(candidates: Any, entry: Any) -> None:
    target = make(*candidates).target()
    assert tries_whole_chain(target) is (entry is None)
    assert entry is None or target is entry


def test_the_rest_after_an_implementation_is_kept() -> None:
    chain = make(candidate("first"), candidate("second"), LAST)
    assert chain.target() is first
    rest = chain.after(first)
    assert names(rest) == ["second", "default"]
    assert rest.said == {"first": RETURNED}
    assert chain.after(first) is rest
    again = rest.after(rest.target())
    assert names(again) == ["default"]
    assert again.said == {"first": RETURNED, "second": RETURNED}


def test_the_rest_after_an_exception_has_its_reason() -> None:
    chain = make(candidate("first"), LAST, caller=Caller())
    assert chain.target() is first
    kept = chain.after(first)
    for text in "one", "two":
        raised = chain.failed(first, DefersError(text))
        assert isinstance(raised, Raised)
        rest = chain.after(raised)
        assert names(rest) == ["default"]
        assert rest.said == {"first": f"it raised DefersError: {text}"}
    assert chain.after(first) is kept


def test_other_exceptions_and_those_of_the_default_are_the_callers() -> None:
    chain = make(candidate("first"), LAST, caller=Caller())
    assert chain.failed(first, ValueError()) is None
    assert chain.failed(default, DefersError()) is None


def test_nothing_follows_the_default() -> None:
    chain = make(LAST, candidate("second"))
    rest = chain.after(default)
    assert names(rest) == []
    assert rest(1) is NotImplemented


def test_an_implementation_that_is_no_candidate_any_more_leaves_all() -> None:
    """The call may have changed the state: none of the candidates has been called."""
    chain = make(candidate("second"), LAST)
    assert chain.after(first) is chain
    assert chain.after(first)(1) == "second"
