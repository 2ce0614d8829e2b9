"""A decorated function is one ordinary function, from its decoration to the end of the process."""

from __future__ import annotations

import gc
import types
import weakref
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core.testing import run_python

CORE = Path(spatch_core.__file__).parents[1]


class Foreign:
    """A backend's type."""


def first(*args: Any, **kwargs: Any) -> str:
    return "first"


def f(x: Any, n: Any = "n", *rest: Any, key: Any = "key", **options: Any) -> Any:
    """Return what it was given."""
    return x, n, rest, key, options


def describe(*functions: str, **fields: Any) -> dict[str, Any]:
    return {
        "name": "first",
        "primary_types": [f"~{__name__}:Foreign"],
        "functions": {f"lib:{name}": {"function": f"{__name__}:first"} for name in functions},
        **fields,
    }


def make(default: Any = f, dispatch_args: Any = ("x", "n"), *implemented: str) -> Any:
    """Make a library with a backend; returns its system and its function ``lib:f``."""
    system = BackendSystem(None, "MYLIB", backends=[describe(*implemented)])
    return system, system.dispatchable(dispatch_args, module="lib", qualname="f")(default)


def collect() -> None:
    for _ in range(3):
        gc.collect()


@pytest.mark.parametrize("implemented", [("f",), ()], ids=["a backend", "no backend"])
def test_changes_of_the_default_implementation_are_seen(implemented: Any) -> None:
    """Tools change code and default values of ``__wrapped__``."""
    default = types.FunctionType(f.__code__, f.__globals__, "f", ("old",))
    _, function = make(default, ("x", "n"), *implemented)
    assert function.__wrapped__ is default
    assert function(1, key=3)[1] == "old"
    default.__defaults__ = ("new",)
    assert function(1, key=3)[1] == "new"
    default.__code__ = (lambda x, key, n: (n, key)).__code__
    assert function(1, key=3) == ("new", 3)


@pytest.mark.parametrize("should_run", [{}, {"should_run": f"{__name__}:first"}], ids=["", "asks"])
def test_a_library_without_references_is_freed(should_run: Any) -> None:
    """The garbage collector sees all that a wrapper refers to."""

    def use() -> list[Any]:
        entry = {"function": f"{__name__}:first", **should_run}
        system = BackendSystem(None, "MYLIB", backends=[describe(functions={"lib:g": entry})])
        functions: list[Any] = [
            system.dispatchable(("x", "n"), module="lib", qualname=name)(f) for name in "fg"
        ]
        for function in functions:
            function(1)
            function(Foreign())
            with system.backend_opts(trace=True):
                function(Foreign())
            function.invoke(backend="default")(1)
        return [weakref.ref(each) for each in (system, *functions)]

    references = use()
    collect()
    assert [reference() for reference in references] == [None] * 3


@pytest.mark.parametrize(
    "place", ["self.cycle = self", "os.keep = self"], ids=["in a cycle", "kept"]
)
def test_finalizers_get_the_default_when_the_interpreter_ends(place: str) -> None:
    """E4: when nothing can be imported any more, and modules are cleared."""
    code = f"""
        import os
        from spatch_core import BackendSystem

        functions = {{"lib:f": {{"function": "operator:neg"}}}}
        theirs = dict(name="b", primary_types=["builtins:complex"], functions=functions)
        system = BackendSystem("no.such.group", "MYLIB", ["builtins:int"], [theirs])

        @system.dispatchable("x", module="lib")
        def f(x):
            return "default", x

        class Finalized:
            def __init__(self):
                self.call = f
                {place}

            def __del__(self):
                print(self.call(1), flush=True)

        f(1), f(1j)
        Finalized()
    """
    done = run_python(code, path=[CORE])
    assert done.stdout.splitlines() == ["('default', 1)"]
    assert done.stderr == ""
