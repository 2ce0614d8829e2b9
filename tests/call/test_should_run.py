"""Asking a backend: what its answers mean."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import IF_NEEDED
from spatch_core._call.context import DispatchContext
from spatch_core._call.should_run import ask, make_context, reason_of_answer
from spatch_core._description.description import Implementation
from spatch_core._dispatch_arguments import Function
from spatch_core._resolution.candidate import Candidate

HERE = __name__
ANSWER: list[Any] = [True]


def default(x: Any = None, y: Any = None) -> Any: ...


FUNCTION = Function("lib:f", default, ("x", "y"))


def should_run(context: DispatchContext, *args: Any, **kwargs: Any) -> Any:
    assert (context.name, args, kwargs) == ("gpu", (1,), {"y": None})
    return ANSWER[0]


def candidate(asked: bool) -> Candidate:
    implementation = Implementation(f"{HERE}:default", f"{HERE}:should_run" if asked else None)
    return Candidate("gpu", FUNCTION, implementation, False, "LIB_BLOCK")


class Ambiguous:
    """Such as an array of two elements."""

    def __bool__(self) -> bool:
        raise ValueError

    def __repr__(self) -> str:
        return "[True, False]"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (True, None),
        (IF_NEEDED, IF_NEEDED),
        ("too small", "too small"),
        (None, "should_run returned None"),
        (1, "should_run returned 1, and only True itself runs it: use bool(...)"),
        (Ambiguous(), "should_run returned [True, False]"),
    ],
    ids=["true", "if needed", "reason", "none", "truthy", "ambiguous"],
)
def test_true_alone_runs(answer: Any, said: Any) -> None:
    ANSWER[0] = answer
    asked = candidate(asked=True)
    args, kwargs = (1,), {"y": None}
    context = make_context(asked, (int,), args, kwargs)
    assert ask(asked, context, args, kwargs) == said
    if isinstance(said, str):
        assert reason_of_answer(answer) == said


def test_a_backend_without_should_run_always_runs() -> None:
    plain = candidate(asked=False)
    assert ask(plain, make_context(plain, (int,), (1,), {}), (1,), {}) is None


def test_a_context_takes_over_what_the_one_before_it_has_found() -> None:
    found: list[Any] = []

    def finder(x: Any, y: Any) -> Any:
        found.append(x)
        return (x,)

    function = Function("lib:f", default, finder)
    each = Candidate("gpu", function, Implementation(f"{HERE}:default"), False, "LIB_BLOCK")
    first = make_context(each, (int,), (1, 2), {})
    assert first.dispatch_args == (1,)
    second = make_context(each, (int,), (1, 2), {}, first)
    assert second.dispatch_args == (1,)
    assert found == [1]
    given = make_context(each, (int,), (1, 2), {}, None, (3, None))
    assert given.dispatch_args == (3,)
