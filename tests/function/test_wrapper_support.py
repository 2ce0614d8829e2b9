"""What wrappers refer to: the link to their library, and the tables in force."""

from __future__ import annotations

import gc
import types
import weakref
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._function.wrapper_support import Link


class Foreign:
    """A backend's type."""


def first(x: Any) -> Any:
    return "first"


def make(dispatch_args: Any) -> tuple[BackendSystem, Any]:
    """Make a library with one function, which a backend implements."""
    backend = {
        "name": "first",
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {"lib:f": {"function": f"{__name__}:first"}},
    }
    system = BackendSystem(None, "LINKEDLIB", backends=[backend])
    return system, system.dispatchable(dispatch_args, module="lib", qualname="f")(lambda x: x)


@pytest.mark.parametrize("dispatch_args", ["x", None, lambda x: [x]], ids=["name", "all", "finder"])
def test_a_copy_of_a_wrapper_outlives_its_library_without_keeping_it(dispatch_args: Any) -> None:
    """A copy has the code alone; its calls then name the reason why they fail."""
    system, function = make(dispatch_args)
    gone = weakref.ref(system)
    copy = types.FunctionType(
        function.__code__, function.__globals__, "copy", function.__defaults__
    )
    assert copy(Foreign()) == "first"
    del system, function
    gc.collect()
    assert gone() is None
    with pytest.raises(
        ReferenceError, match="is a copy, and the BackendSystem of the original was freed"
    ):
        copy(1)


def test_a_function_keeps_its_library() -> None:
    """Whatever else of it a program has kept."""
    system, function = make("x")
    alive = weakref.ref(system)
    del system
    gc.collect()
    assert alive() is not None
    assert function(Foreign()) == "first"


def test_hooks_of_a_library_that_is_gone_do_nothing() -> None:
    """An observation may end after that."""

    class Dispatcher:
        """It has none of the methods."""

    dispatcher = Dispatcher()
    link = Link(dispatcher)
    with pytest.raises(AttributeError):
        link.take_shortcuts()
    del dispatcher
    link.leave_shortcuts()
    link.take_shortcuts()
    assert link.strays() is None
