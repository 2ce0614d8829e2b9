"""A call is explained with its arguments, and without calling an implementation."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem

HERE = __name__


class Foreign:
    """The backend's type."""


def to_own(value: Any) -> Any:
    raise AssertionError("explain converts nothing")


def not_many(context: Any, x: Any, n: int = 0) -> Any:
    return True if n < 2 else f"{n} are too many"


def never_called(x: Any, n: int = 0) -> Any:
    raise AssertionError("explain calls no implementation")


ASKED = {
    "name": "asked",
    "primary_types": [f"{HERE}:Foreign"],
    "functions": {"lib:f": {"function": f"{HERE}:never_called", "should_run": f"{HERE}:not_many"}},
}
CONVERTS = {
    "name": "bridge",
    "primary_types": [f"{HERE}:Foreign"],
    "to_default": f"{HERE}:to_own",
    "from_default": f"{HERE}:to_own",
}


@pytest.mark.parametrize(
    ("backend", "n", "selected", "text"),
    [
        (ASKED, 1, "asked", "> asked    runs"),
        (ASKED, 2, "default", "asked    defers: 2 are too many"),
        (CONVERTS, 1, "bridge", "would convert: 1 argument of"),
    ],
    ids=["asked", "defers", "converts"],
)
def test_what_depends_on_the_arguments_is_told(
    backend: Any, n: int, selected: str, text: str
) -> None:
    """C3, V8: `should_run` gets them; conversions are looked for in them, and none is called."""
    policy = "convert" if backend is CONVERTS else "default"
    system = BackendSystem(None, "EXPLAINEDLIB", backends=[backend], fallback=policy)

    @system.dispatchable("x", module="lib", qualname="f")
    def f(x: Any, n: int = 0) -> str:
        return "default"

    explanation = f.explain(Foreign(), n=n)
    assert explanation.selected == selected
    assert text in str(explanation)
