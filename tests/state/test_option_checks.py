"""Names and types are checked when options are made."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem, UnknownBackendError, UnknownTypeError
from spatch_core._state.option_checks import MAX_OPTIONS, check, is_constant
from spatch_core._state.state import DispatchState
from spatch_core._state.trace import Trace


class Foreign:
    """The backend's type."""


@pytest.fixture
def system() -> BackendSystem:
    return BackendSystem(
        None, "MYLIB", backends=[{"name": "first", "primary_types": [f"{__name__}:Foreign"]}]
    )


def test_the_same_backends_give_the_same_state(system: BackendSystem) -> None:
    """However they are spelled, because scopes are found by its identity."""
    known: dict[Any, DispatchState] = {}
    states = [
        check(system._dispatcher, known, prioritize, disable, {})
        for prioritize, disable in (
            ("default", "first"),
            (["default", "default"], {"first"}),
            (("default",), iter(["first"])),
        )
    ]
    assert states[0] is states[1] is states[2]
    assert states[0].key == DispatchState(("default",), frozenset({"first"})).key
    assert len(known) == 1


def test_classes_and_traces_are_not_kept(system: BackendSystem) -> None:
    """They would live on in the cache."""
    known: dict[Any, DispatchState] = {}
    state = check(system._dispatcher, known, (), (), {"type": Foreign})
    assert state.type is Foreign
    trace = check(system._dispatcher, known, (), (), {"trace": True}).trace
    assert type(trace) is Trace
    assert known == {}


def test_mistakes_are_named(system: BackendSystem) -> None:
    """An unknown name or type is a `ValueError`."""
    with pytest.raises(UnknownBackendError, match="'first'"):
        check(system._dispatcher, {}, "fist", (), {})
    with pytest.raises(UnknownTypeError):
        check(system._dispatcher, {}, (), (), {"type": bytes})


@pytest.mark.parametrize("option", ["prioritize", "disable"])
@pytest.mark.parametrize("value", [3, b"first"], ids=repr)
def test_names_must_be_names(system: BackendSystem, option: str, value: Any) -> None:
    """S5: a value that is not names gives another error than an unknown name."""
    options: dict[str, Any] = {option: value}
    with pytest.raises(TypeError, match=rf"^{option}= takes the name of a backend, or several"):
        system.backend_opts(**options)


def test_names_are_compared_without_case(system: BackendSystem) -> None:
    """S5: the nearest name may differ only in case."""
    with pytest.raises(UnknownBackendError, match=r"did you mean 'first'\?"):
        system.backend_opts(prioritize="FIRST")


def test_only_constants_mean_the_same_next_time() -> None:
    """A list may have changed by then."""
    assert is_constant("first")
    assert is_constant(("first",))
    assert is_constant(None)
    assert not is_constant(["first"])


def test_the_number_of_known_options_is_bounded(system: BackendSystem) -> None:
    """Each spelling is known, up to a bound."""
    options = system.backend_opts
    for number in range(3 * MAX_OPTIONS):
        options(prioritize=("first",) * (number + 1))
    assert len(options._plain) <= MAX_OPTIONS + 1
    assert len(options._prioritized) <= MAX_OPTIONS
