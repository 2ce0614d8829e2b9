"""A decorated function is one ordinary function, from its decoration to the end of the process."""

from __future__ import annotations

import asyncio
import doctest
import gc
import inspect
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


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, None), {}),
    ((1,), {"n": 2}),
    ((), {"x": 1}),
    ((1, 2, 3), {"key": 4, "other": 5}),
    ((Foreign(),), {}),
]


@pytest.mark.parametrize("dispatch_args", [None, "x", ("x", "n"), ("n", "key"), []], ids=repr)
def test_calls_get_their_arguments_as_given(dispatch_args: Any) -> None:
    """Where no backend implements the function."""
    _, function = make(f, dispatch_args)
    code = function.__code__
    for _ in range(2):
        assert [function(*args, **kwargs) for args, kwargs in CALLS] == [
            f(*args, **kwargs) for args, kwargs in CALLS
        ]
        assert function.__code__ is code
    assert function.__defaults__ == f.__defaults__
    assert function.__kwdefaults__ == f.__kwdefaults__
    assert function.__globals__ is f.__globals__
    assert function.__name__ == function.__qualname__ == "f"
    assert function.__module__ == "lib"
    assert str(inspect.signature(function)) == str(inspect.signature(f))


@pytest.mark.parametrize("implemented", [("f",), ()], ids=["a backend", "no backend"])
def test_its_code_stays_the_same(implemented: Any) -> None:
    """Whatever is in force, and whichever backends are discovered."""
    system, function = make(f, "x", *implemented)
    code = function.__code__
    assert function(1) == f(1)
    for options in ({"disable": "first"}, {"prioritize": "default"}, {"type": Foreign}):
        with system.backend_opts(trace=True, **options):
            expected = "first" if implemented and "type" in options else f(1)
            assert function(1) == expected
            assert function.__code__ is code
    system.reload()
    assert function(1) == f(1)
    assert function.__code__ is code


@pytest.mark.parametrize("dispatch_args", [None, "x", ("x", "n"), lambda *args, **kw: args])
def test_its_code_has_plain_constants(dispatch_args: Any) -> None:
    """Compilers, debuggers and `marshal` know these; all else is in the closure."""
    _, function = make(f, dispatch_args)
    kinds = {type(each) for each in function.__code__.co_consts}
    assert kinds <= {type(None), bool, int, str, tuple}


def test_a_finder_runs_where_no_backend_implements_the_function() -> None:
    """Its effects and errors do not depend on the installed backends."""

    def find(x: Any, *args: Any, **kwargs: Any) -> Any:
        if x is None:
            raise TypeError("x is needed")
        return [x]

    _, function = make(f, find)
    function(1)
    with pytest.raises(TypeError, match="x is needed"):
        function(None)


def test_a_task_that_was_started_in_a_trace_is_traced_to_its_end() -> None:
    """Also after the block has ended."""
    system, function = make()
    function(1)

    async def later(go: asyncio.Event) -> None:
        await go.wait()
        function(1)

    async def main() -> list[Any]:
        go = asyncio.Event()
        with system.backend_opts(trace=True) as trace:
            task = asyncio.create_task(later(go))
        collect()
        function(2)
        go.set()
        await task
        return list(trace)

    assert len(asyncio.run(main())) == 1


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


def test_doctest_finds_its_examples() -> None:
    """It compares `__globals__` to tell functions of the module from imported ones."""
    module = types.ModuleType("lib")
    exec(  # noqa: S102  # a module of its own
        'def f(x):\n    """Return it.\n\n    >>> f(1)\n    1\n    """\n    return x\n',
        module.__dict__,
    )
    system = BackendSystem(None, "MYLIB")
    module.f = system.dispatchable("x")(module.f)  # type: ignore[attr-defined]
    for _ in range(2):
        found = doctest.DocTestFinder().find(module, "lib", module=module)
        assert [len(each.examples) for each in found if each.name == "lib.f"] == [1]
        module.f(1)


@pytest.mark.parametrize("called", [False, True], ids=["first call", "later call"])
@pytest.mark.parametrize("backends", [[], ["theirs"]], ids=["no backend", "a backend"])
@pytest.mark.parametrize(
    "place", ["self.cycle = self", "os.keep = self"], ids=["in a cycle", "kept"]
)
def test_finalizers_get_the_default_when_the_interpreter_ends(
    called: bool, backends: list[str], place: str
) -> None:
    """When nothing can be imported any more, and modules are cleared."""
    code = f"""
        import os
        from spatch_core import BackendSystem

        functions = {{"lib:f": {{"function": "operator:neg"}}}}
        backends = [
            dict(name=name, primary_types=["builtins:complex"], functions=functions)
            for name in {backends}
        ]
        system = BackendSystem("no.such.group", "MYLIB", ["builtins:int"], backends)

        @system.dispatchable("x", module="lib")
        def f(x):
            return "default", x

        class Finalized:
            def __init__(self):
                self.call = f
                {place}

            def __del__(self):
                print(self.call(1), flush=True)

        if {called}:
            f(1), f(1j)
        Finalized()
    """
    done = run_python(code, path=[CORE])
    assert done.stdout.splitlines() == ["('default', 1)"]
    assert done.stderr == ""
