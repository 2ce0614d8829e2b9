"""Examples of the golden rule: C2 and M3 of docs/reference/rules.md.

Installing a backend and changing nothing else never changes the result of a call that
worked before. `tests/property/test_golden_rule.py` states it for random libraries and newcomers,
`tests/property/test_resolution.py` says which calls backends take at all.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.installed import installed
from tests.library import Foreign, Own, describe, make

GROUP = "golden.backends"


@pytest.mark.parametrize(
    ("variable", "value", "runs"),
    [
        ("BLOCK", "other", "default"),
        ("PRIORITIZE", "greedy", "greedy"),
        ("SET_ORDER", "greedy>other,other>default", "greedy"),
        ("SET_ORDER", "default>greedy", "default"),
        ("SET_ORDER", "greedy>other", "default"),
    ],
)
def test_the_environment_asks_for_a_backend(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, runs: str
) -> None:
    """C2, S8: the variables are the user's choice, and "changing nothing else" does not hold."""
    system, f = make(group=GROUP)
    monkeypatch.setenv(f"MYLIB_{variable}", value)
    backends = {"greedy": describe("greedy", types="Own"), "other": describe("other")}
    with installed(GROUP, backends):
        assert f(Own()) == f.explain(Own()).selected == runs
        with system.backend_opts(prioritize="greedy"):
            assert f(Own()) == "greedy"
        assert f(Own()) == runs


def test_a_number_that_rides_along_does_not_count_unless_the_user_names_its_type() -> None:
    """M1, M4: `type=` counts for every backend, also one of Python's own classes."""
    system, f = make(group=GROUP, dispatch_args=("x", "y"), default=lambda x, y=None: "default")
    numbers: Any = describe("numbers", types="~builtins:float", also="Own")
    with installed(GROUP, {"numbers": numbers, "foreigners": describe("foreigners")}):
        assert (f(Own(), 1.5), f(1.5), f(Foreign())) == ("default", "numbers", "foreigners")
    reason = "the default matches without builtins:float, which therefore does not count"
    assert f.explain(Own(), 1.5).backends[-1].reason == reason
    with system.backend_opts(type=float):
        assert f(Foreign()) == "default"
        assert f(Own()) == f(1.5) == f(None) == "numbers"
        assert f.explain(Own()).selected == "numbers"
    assert f.invoke(type=float)(Own()) == "numbers"
    assert system.explain_types("lib:f", [Own]).selected == "default"
