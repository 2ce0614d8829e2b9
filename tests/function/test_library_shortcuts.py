"""The shortcuts of a library; what they do to its functions is tried in `test_shortcut`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core._function.library_shortcuts import install
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="only CPython with its global lock exchanges code",
)


def make() -> tuple[BackendSystem, Any]:
    system = BackendSystem(None, "SHORTCUTS", default_primary_types=["builtins:float"])
    return system, system.dispatchable("x", module="lib", qualname="f")(double)


def double(x: Any) -> Any:
    return 2 * x


def is_taken(function: Any) -> bool:
    return bool(function.__code__ is double.__code__)


def test_importing_a_library_makes_none() -> None:
    """The first call that needs backends does."""
    code = """
        import sys
        from spatch_core import BackendSystem
        system = BackendSystem(None, "LIB")
        f = system.dispatchable("x", identifier="lib:f")(lambda x: x)
        names = ["spatch_core._function.shortcut", "spatch_core._function.library_shortcuts"]
        print([name in sys.modules for name in names])
        f(1)
        print([name in sys.modules for name in names])
    """
    done = run_python(code, path=[CORE])
    assert done.stdout.splitlines() == ["[False, False]", "[True, True]"]


def test_a_block_that_began_before_the_first_call_is_observed() -> None:
    """C1: no shortcut is taken in it, and one is taken when it has ended."""
    system, function = make()
    with system.backend_opts(trace=True) as trace:
        assert function(1.0) == 2.0
        assert not is_taken(function)
    assert len(trace) == 1
    assert function(1.0) == 2.0
    assert is_taken(function)


def test_code_that_a_tool_has_set_before_the_first_call_stays() -> None:
    """A profiler may have exchanged it."""
    _, function = make()
    code = function.__code__.replace(co_name="watched")
    function.__code__ = code
    assert function(1.0) == 2.0
    assert function.__code__ is code


def test_installing_again_keeps_those_that_are_there() -> None:
    """Two threads may make a loader at once; the shortcuts know which of them are taken."""
    system, function = make()
    function(1.0)
    assert is_taken(function)
    dispatcher = system._dispatcher
    before = dispatcher.shortcuts
    install(dispatcher)
    assert dispatcher.shortcuts is before
    with system.backend_opts(trace=True):
        assert not is_taken(function)
    assert is_taken(function)


def test_a_shortcut_is_made_once() -> None:
    """It knows whether it is taken."""
    system, function = make()
    function(1.0)
    (record,) = system._dispatcher.records
    made = record.shortcut
    system.reload()
    function(1.0)
    assert made is not None
    assert record.shortcut is made
    assert is_taken(function)
