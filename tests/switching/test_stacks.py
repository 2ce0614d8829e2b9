"""The backends that are set, by value: rules W5 to W7."""

from __future__ import annotations

import pytest

from spatch_core._state.state import CURRENT, DispatchState
from spatch_core.switching.stacks import has_alone, stack_of, switched


def test_a_backend_that_is_set_goes_first() -> None:
    """W5: the other options are kept, and it is disabled no more."""
    state = DispatchState(("p", CURRENT), frozenset({"a", "q"}), backend="b", earlier=("c",))
    after = switched(state, ("a", "b", "c"))
    assert after.prioritized == ("a", "p")
    assert (after.backend, after.earlier, after.disabled) == ("a", ("b", "c"), frozenset("q"))
    assert stack_of(after) == ("a", "b", "c")
    assert stack_of(switched(after, ())) == ()


def test_going_back_keeps_places() -> None:
    """W6: to what another state says, with the place that the backend has there."""
    default = DispatchState(("p", CURRENT), backend="a")
    state = switched(default, ("b", "a"))
    assert state.prioritized == ("b", "p")
    assert switched(state, ("a",), default).key == default.key
    assert switched(default, ("b",), DispatchState()).prioritized == ("p", "b")


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (DispatchState((CURRENT, "p"), backend="a"), True),
        (DispatchState(("p", CURRENT), backend="a"), False),
        (DispatchState((CURRENT,), backend="a", earlier=("b",)), False),
        (DispatchState((CURRENT,), frozenset({"a"}), backend="a"), False),
        (DispatchState((CURRENT,), backend="b"), False),
        (DispatchState(), False),
    ],
    ids=["alone", "later", "earlier", "disabled", "another", "none"],
)
def test_what_need_not_be_set(state: DispatchState, expected: bool) -> None:
    """W7: setting it again would change nothing."""
    assert has_alone(state, "a") == expected
    assert (switched(state, ("a",)).key == state.key) == expected
