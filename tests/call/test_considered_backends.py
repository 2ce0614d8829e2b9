"""What is said of the backends that were considered, when no backend has answered."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem, NoImplementationError

HERE = __name__
ANSWERS: list[Any] = []
ASKED: list[Any] = []


class Foreign:
    """The backends' type."""


def says(context: Any, x: Any) -> Any:
    ASKED.append(x)
    return ANSWERS[-1]


def never(x: Any) -> Any:
    raise AssertionError


class Text(str):
    """A reason that is no plain text."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise ValueError("not comparable")

    __hash__ = str.__hash__


def make() -> Any:
    entry = {"function": f"{HERE}:never", "should_run": f"{HERE}:says"}
    fields = {"primary_types": [f"{HERE}:Foreign"], "functions": {"lib:f": entry}}
    system = BackendSystem(None, "REASONSLIB", backends=[{"name": "b", **fields}], fallback="raise")
    return system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")


@pytest.mark.parametrize(
    "answers",
    [["no", "no"], ["no", "never", "no"], [False, False], [Text("no"), Text("no"), "no"]],
    ids=["same", "other", "no text", "text of another class"],
)
def test_each_refusal_has_the_reasons_of_its_own_call(answers: list[Any]) -> None:
    """V3: each backend is asked once in a call, and not again for the text."""
    f = make()
    ASKED.clear()
    errors = []
    for answer in answers:
        ANSWERS.append(answer)
        with pytest.raises(NoImplementationError) as caught:
            f(Foreign())
        errors.append(caught.value)
    assert len(ASKED) == len(answers)
    for error, answer in zip(errors, answers, strict=True):
        (backend,) = error.backends
        expected = (
            str.__str__(answer) if isinstance(answer, str) else f"should_run returned {answer}"
        )
        assert str.__str__(backend.reason) == expected
        assert f"b defers: {expected}" in str(error)
