"""Backends that no options activate: their functions are their default implementations."""

from __future__ import annotations

import sys
import threading
import warnings
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._function.inactive_backends import InactiveBackends
from spatch_core._state.state import DispatchState
from spatch_core.testing import isolated

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="only CPython with its global lock exchanges code",
)


class Foreign:
    """The backends' type."""


def implementation(x: Any) -> str:
    return "backend"


def f(x: Any) -> str:
    warnings.warn("look out", DeprecationWarning, stacklevel=2)
    return "default"


def describe(name: str, *functions: str, **fields: Any) -> dict[str, Any]:
    entry = {"function": f"{__name__}:implementation"}
    return {
        "name": name,
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {f"lib:{each}": entry for each in functions},
        **fields,
    }


def make(*backends: Any) -> Any:
    """Return a library, and its functions ``lib:f`` and ``lib:g`` after a call."""
    system = BackendSystem(None, "MYLIB", backends=backends)
    functions: list[Any] = [
        system.dispatchable("x", module="lib", qualname=name)(f) for name in ("f", "g")
    ]
    for each in functions:
        with pytest.warns(DeprecationWarning, match="look out"):
            each(3)
    return system, *functions


def is_taken(function: Any) -> bool:
    return function.__code__ is function.__wrapped__.__code__


def default(function: Any) -> None:
    """Check that the default runs, and that its warning is shown here."""
    with pytest.warns(DeprecationWarning, match="look out"):
        assert function(Foreign()) == "default"


QUIET = describe("quiet", "f", requires_opt_in=True)


def test_a_function_that_only_an_inactive_backend_implements_is_its_default() -> None:
    """F17: also its warnings are shown at the line of the caller."""
    _, function, _ = make(QUIET)
    assert is_taken(function)
    with pytest.warns(DeprecationWarning, match="look out") as caught:
        function(3)
    assert caught[0].filename == __file__


def test_it_dispatches_once_options_activate_the_backend() -> None:
    """F17: in the block, and around it with the other options."""
    system, function, other = make(QUIET)
    with system.backend_opts(prioritize="quiet"):
        assert function(Foreign()) == "backend"
        with system.backend_opts(disable="quiet"):
            default(function)
        assert is_taken(other)
        default(other)
    default(function)
    with system.backend_opts(prioritize="quiet"):
        assert function(Foreign()) == "backend"


def test_options_that_are_frozen_activate_the_backend() -> None:
    """F17: also those of a function that runs later, in another thread."""
    system, function, _ = make(QUIET)
    frozen = system.backend_opts.freeze(function, prioritize="quiet")
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(frozen(Foreign())))
    thread.start()
    thread.join()
    assert found == ["backend"]


def test_options_that_are_enabled_globally_activate_the_backend() -> None:
    """F17: for code that is in no block."""
    system, function, _ = make(QUIET)
    system.backend_opts(prioritize="quiet").enable_globally()
    assert function(Foreign()) == "backend"


def test_the_environment_activates_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """F17: and `reload()` follows it."""
    system, function, _ = make(QUIET)
    monkeypatch.setenv("MYLIB_PRIORITIZE", "quiet")
    system.reload()
    assert function(Foreign()) == "backend"
    monkeypatch.delenv("MYLIB_PRIORITIZE")
    system.reload()
    default(function)
    assert is_taken(function)


def test_a_backend_that_is_disabled_globally_is_inactive() -> None:
    """F17: until options activate it again."""
    system, function, _ = make(describe("loud", "f"))
    assert function.__wrapped__ is f
    assert not is_taken(function)
    system.backend_opts(disable="loud").enable_globally()
    assert is_taken(function)
    default(function)
    with system.backend_opts(prioritize="loud"):
        assert function(Foreign()) == "backend"
    default(function)


def test_an_active_backend_among_inactive_ones_counts() -> None:
    """F17: as long as one may answer, calls dispatch."""
    _, function, other = make(QUIET, describe("loud", "f"), describe("more", "g", **OPT_IN))
    assert not is_taken(function)
    assert is_taken(other)


OPT_IN = {"requires_opt_in": True}


def test_two_backends_are_activated_one_by_one() -> None:
    """F17: the second finds functions that the first has not without_activated."""
    system, function, other = make(QUIET, describe("more", "g", **OPT_IN))
    with system.backend_opts(prioritize="quiet"):
        assert is_taken(other)
        with system.backend_opts(prioritize="more"):
            assert function(Foreign()) == other(Foreign()) == "backend"


def test_a_trace_sees_calls_of_inactive_backends_functions() -> None:
    """S10: and they are their default implementations again afterwards."""
    system, function, _ = make(QUIET)
    with system.backend_opts(trace=True) as trace:
        default(function)
    assert [event.backend for event in trace] == ["default"]
    default(function)


def test_a_state_of_an_isolated_block_is_not_forgotten() -> None:
    """Its options may be in force again afterwards."""
    system, function, _ = make(QUIET)
    with isolated(system), system.backend_opts(prioritize="quiet"):
        assert function(Foreign()) == "backend"
    default(function)
    with system.backend_opts(prioritize="quiet"):
        assert function(Foreign()) == "backend"


def test_threads_that_activate_while_others_decide() -> None:
    """No call of a block misses the backend, whenever others take shortcuts."""
    for _ in range(20):
        system, function, _ = make(QUIET)
        wrong: list[Any] = []
        start = threading.Barrier(3)

        def decide(system: Any = system, start: Any = start) -> None:
            start.wait()
            for _ in range(5):
                system._dispatcher.shortcuts.take_all()

        def activate(
            system: Any = system, function: Any = function, start: Any = start, wrong: Any = wrong
        ) -> None:
            start.wait()
            for number in range(5):
                with system.backend_opts(prioritize="quiet", type=(None, Foreign)[number % 2]):
                    wrong += [each for each in [function(Foreign())] if each != "backend"]

        threads = [threading.Thread(target=each) for each in (decide, decide, activate)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert wrong == []


def test_a_state_that_a_thread_reads_before_it_is_announced() -> None:
    """S10: the shortcut is left although the inactive backends were found anew in between."""
    system, function, _ = make(QUIET)
    default(function)
    keeper, shortcuts = system._dispatcher.keeper, system._dispatcher.shortcuts
    announce = keeper.on_new_state

    def announce_late(state: DispatchState) -> None:
        thread = threading.Thread(target=shortcuts.take_all)
        thread.start()
        thread.join()
        announce(state)

    keeper.on_new_state = announce_late
    with system.backend_opts(prioritize="quiet"):
        assert function(Foreign()) == "backend"


def test_sleepers() -> None:
    """Opt-in backends that none prioritizes, and those that all disable."""
    system, *_ = make(QUIET, describe("loud", "f"), describe("more", "f", **OPT_IN))
    catalog = system._catalog()
    inactive = InactiveBackends(
        catalog, [DispatchState(), DispatchState(("more",), frozenset({"loud"}))]
    )
    assert inactive.include(["default", "quiet"])
    assert not inactive.include(["default", "loud"])
    assert not inactive.include(["more"])
    assert inactive.without_activated(DispatchState()) is inactive
    assert not inactive.without_activated(DispatchState(("quiet",))).include(["quiet"])
    disabling = InactiveBackends(catalog, [DispatchState((), frozenset({"loud"}))])
    assert disabling.include(["loud", "quiet", "more"])
    assert not disabling.without_activated(DispatchState()).include(["loud"])
