"""The frozen value: its fields, nested blocks, and the active backends."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import pytest

from spatch_core._state.option_checks import CHECKS
from spatch_core._state.options import BackendOptions
from spatch_core._state.options_view import OptionsView
from spatch_core._state.state import CURRENT, MAX_EARLIER, OPTIONS, STAYING, DispatchState
from spatch_core._state.trace import Trace


class Foreign:
    """A type."""


def state(
    prioritized: str | tuple[str, ...] = "", disabled: str = "", **fields: Any
) -> DispatchState:
    return DispatchState(tuple(prioritized), frozenset(disabled), **fields)


@pytest.mark.parametrize(
    ("options", "outer", "expected"),
    [
        (state(), state(), state()),
        (state("a"), state("b"), state("ab")),
        (state("ba"), state("abc"), state("bac")),
        (state("a"), state("", "ab"), state("a", "b")),
        (state("", "a"), state("ab"), state("b", "a")),
        (state("a", "a"), state(), state("", "a")),
        (state(type=int), state(type=str), state(type=int)),
        (state(), state("a", "b", type=str), state("a", "b", type=str)),
        (state("a", backend="c"), state("b"), state(("a", CURRENT, "b"), backend="c")),
        (state("a"), state("b", backend="c"), state(("a", "b", CURRENT), backend="c")),
        (
            state("a", backend="b"),
            state("c", backend="d"),
            state(("a", CURRENT, "c"), backend="b", earlier=("d",)),
        ),
        (
            state(backend="b"),
            state("c", backend="b", earlier=("d",)),
            state((CURRENT, "c"), backend="b", earlier=("d",)),
        ),
    ],
)
def test_blocks_nest(options: DispatchState, outer: DispatchState, expected: DispatchState) -> None:
    """Nesting adds options, and the inner block takes precedence."""
    assert options.within(outer).key == expected.key


def test_the_current_backend_is_prioritized() -> None:
    """W1: in its place among the others, but not where it is disabled."""
    assert state("ab", backend="c").prioritized == ("a", "b", "c")
    assert state(("a", CURRENT, "b"), backend="c").prioritized == ("a", "c", "b")
    assert state("ab", backend="a").prioritized == ("a", "b")
    assert state("a", "c", backend="c").prioritized == ("a",)
    assert state("ab", "c", backend="c").replace(type=int).places == ("a", "b", CURRENT)


def test_earlier_backends_are_bounded() -> None:
    """E6: blocks in blocks, however many."""
    outer = state()
    for number in range(3 * MAX_EARLIER):
        outer = state(backend=f"b{number}").within(outer)
    last = 3 * MAX_EARLIER - 1
    assert outer.backend == f"b{last}"
    assert outer.earlier == tuple(f"b{last - each}" for each in range(1, MAX_EARLIER + 1))


def test_an_inner_trace_replaces_the_outer_one() -> None:
    """Also one without events, which is equal to every other one."""
    outer, inner = Trace(), Trace()
    assert state(trace=inner).within(state(trace=outer)).trace is inner
    assert state().within(state(trace=outer)).trace is outer
    assert state(trace=inner).key != state(trace=outer).key


def test_it_is_frozen() -> None:
    """A state is in force in several threads at once."""
    value = state("a")
    with pytest.raises(AttributeError, match="'type' cannot be set"):
        value.type = int
    assert value.replace(type=int).key == state("a", type=int).key
    assert value.type is None
    assert "prioritized=('a',)" in repr(value)
    assert repr(state()) == "<DispatchState without options>"


class Broken(type):
    """A metaclass whose comparisons fail."""

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError

    def __hash__(cls) -> int:
        raise RuntimeError


def test_classes_are_compared_by_identity() -> None:
    """No code of a metaclass runs."""
    first, second = Broken("Same", (), {}), Broken("Same", (), {})
    assert state(type=first).key == state(type=first).key
    assert state(type=first).key != state(type=second).key
    assert {state(type=first).key: 1}


def test_active_backends() -> None:
    """opt-in backends are active where they are prioritized; none if disabled."""
    descriptions = {
        name: SimpleNamespace(requires_opt_in=name == "opted", unmet="")
        for name in ("default", "a", "b", "opted")
    }
    catalog: Any = SimpleNamespace(descriptions=descriptions)
    assert DispatchState().active(catalog) == ("default", "a", "b")
    value = DispatchState(("opted", "b", "absent"), frozenset({"a"}))
    assert value.active(catalog) == ("opted", "b", "default")
    assert value.ordered(["default", "b"]) == ("b", "default")


def test_every_option_can_be_given_and_told() -> None:
    """A row of the table has a field here, a parameter, and a property; plain values travel."""
    parameters = [*inspect.signature(BackendOptions).parameters]
    assert parameters == ["prioritize", "disable", *OPTIONS]
    assert tuple(CHECKS) == OPTIONS
    for name in OPTIONS:
        assert getattr(state(), name) is None
        assert isinstance(vars(OptionsView)["hooks" if name == "hook" else name], property)
        value: Any = (object(),)  # hooks are several
        given = state(**{name: value})
        assert getattr(given.within(state()), name) is value
        assert getattr(state().within(given), name) is value
        assert given.key != state().key
        assert name not in STAYING or not given.is_plain
        assert (name not in given.others) is (name in STAYING)
    travelling = [name for name in OPTIONS if name not in STAYING]
    frozen = [*inspect.signature(BackendOptions.freeze).parameters]
    assert frozen == ["function", "prioritize", "disable", *travelling]
