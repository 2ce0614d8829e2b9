"""The last stage of a call in a state with hooks: the candidates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._call.last_stage import LastStage
from spatch_core.hooks import Call

HERE = __name__


class Foreign:
    """The backends' type."""


def answers(x: Any) -> Any:
    return "answer"


def defers(x: Any) -> Any:
    return NotImplemented


def is_asked(context: Any, x: Any) -> bool:
    return True


def backend(name: str, function: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "primary_types": [f"{HERE}:Foreign"],
        "functions": {"lib:f": {"function": f"{HERE}:{function}", **more}},
    }


@contextmanager
def stages(*backends: dict[str, Any]) -> Iterator[tuple[Any, list[Call]]]:
    """Make a function, and collect the calls that a hook sees."""
    system = BackendSystem(None, "LASTSTAGELIB", backends=backends)
    f = system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")
    seen: list[Call] = []

    def hook(call: Call) -> Any:
        seen.append(call)
        return call.next(*call.args, **call.kwargs)

    with system.backend_opts(hook=hook):
        yield f, seen


@pytest.mark.parametrize(
    ("backends", "result", "name"),
    [
        ([backend("a", "answers")], "answer", "a"),
        ([backend("a", "answers", should_run=f"{HERE}:is_asked")], "answer", "a"),
        ([backend("a", "defers"), backend("b", "answers")], "answer", "b"),
        ([backend("a", "defers")], "default", "default"),
    ],
    ids=["plain", "asked", "after another", "default"],
)
def test_the_call_knows_which_candidate_has_answered(backends: Any, result: Any, name: str) -> None:
    with stages(*backends) as (f, seen):
        assert f(Foreign()) == result
    (call,) = seen
    assert call.backend == name
    last = call._hooked.last
    assert isinstance(last, LastStage)
    names = [each["name"] for each in backends]
    assert [each.backend for each in last.chain().candidates] == [*names, "default"]
