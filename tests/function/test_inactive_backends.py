"""Backends that are inactive until options activate them."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import isolated


class Foreign:
    """The backends' type."""


def implementation(x: Any) -> str:
    return "backend"


def f(x: Any) -> str:
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
        each(3)
    return system, *functions


def default(function: Any) -> None:
    """Check that the default runs."""
    assert function(Foreign()) == "default"


QUIET = describe("quiet", "f", requires_opt_in=True)


def test_it_dispatches_once_options_activate_the_backend() -> None:
    """F17: in the block, and around it with the other options."""
    system, function, other = make(QUIET)
    with system.backend_opts(prioritize="quiet"):
        assert function(Foreign()) == "backend"
        with system.backend_opts(disable="quiet"):
            default(function)
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


def test_a_backend_that_is_disabled_globally_is_inactive() -> None:
    """F17: until options activate it again."""
    system, function, _ = make(describe("loud", "f"))
    assert function.__wrapped__ is f
    system.backend_opts(disable="loud").enable_globally()
    default(function)
    with system.backend_opts(prioritize="loud"):
        assert function(Foreign()) == "backend"
    default(function)


OPT_IN = {"requires_opt_in": True}


def test_two_backends_are_activated_one_by_one() -> None:
    """F17: in blocks inside each other."""
    system, function, other = make(QUIET, describe("more", "g", **OPT_IN))
    with system.backend_opts(prioritize="quiet"), system.backend_opts(prioritize="more"):
        assert function(Foreign()) == other(Foreign()) == "backend"


def test_a_trace_sees_calls_of_inactive_backends_functions() -> None:
    """S10: in its block alone."""
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
