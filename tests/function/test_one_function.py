"""A decorated function is one ordinary function, from its decoration to the end of the process."""

from __future__ import annotations

import asyncio
import doctest
import gc
import inspect
import sys
import types
import warnings
import weakref
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core.testing import isolated, run_python, write_distribution

CORE = Path(spatch_core.__file__).parents[1]


class Foreign:
    """A backend's type."""


def first(*args: Any, **kwargs: Any) -> str:
    return "first"


def f(x: Any, n: Any = "n", *rest: Any, key: Any = "key", **options: Any) -> Any:
    """Return what it was given."""
    return x, n, rest, key, options


def warn(x: Any) -> None:
    warnings.warn("look out", UserWarning, stacklevel=2)


def counting(x: Any) -> Any:
    yield x


async def waiting(x: Any) -> Any:
    return x


async def streaming(x: Any) -> Any:
    yield x


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
    assert {cell.cell_contents for cell in function.__closure__} >= {NotImplemented, Exception}


@pytest.mark.parametrize("default", [counting, waiting, streaming])
def test_functions_that_suspend(default: Any) -> None:
    """The wrapper has the nature of the default implementation."""
    _, function = make(default, "x")
    for _ in range(3):
        result = function("x")
        if inspect.isgenerator(result):
            assert list(result) == ["x"]
        elif inspect.iscoroutine(result):
            assert asyncio.run(result) == "x"
        else:
            assert asyncio.run(anext(result)) == "x"


def test_functions_whose_globals_are_of_a_subclass_of_dict() -> None:
    """The default implementation keeps its own."""

    class Namespace(dict):  # type: ignore[type-arg]
        """A namespace as template engines use it."""

    namespace = Namespace(y="global")
    exec("def f(x):\n    return x, y\n", namespace)  # noqa: S102  # in globals of its own
    _, function = make(namespace["f"], "x")
    for _ in range(3):
        assert function(1) == (1, "global")


def test_code_that_a_user_set_stays() -> None:
    """Also when a copy of the function is called, and when the backends change."""
    system, function = make()
    code = function.__code__
    own = types.FunctionType(
        code, function.__globals__, "f", function.__defaults__, function.__closure__
    )
    free = ", ".join(code.co_freevars)  # CPython exchanges code with as many of them
    scope: dict[str, Any] = {}
    text = f"""
        def make({free}):
            def theirs(*args, **options):
                return ["theirs", {free}][0]
            return theirs
        """
    exec(inspect.cleandoc(text), scope)  # noqa: S102  # as a tool makes it
    function.__code__ = scope["make"](*code.co_freevars).__code__
    for _ in range(2):
        assert own(1) == f(1)
        assert function(1) == "theirs"
        system.reload()
        assert function(1) == "theirs"
    function.__code__ = code
    assert function(1) == f(1)


def test_initializers_are_traced() -> None:
    """CPython specializes the creation of objects for the code of `__init__`."""
    system = BackendSystem(None, "MYLIB")

    @system.dispatchable(("made", "x"), module="lib")  # under its own name it cannot be
    def fill(made: Any, x: Any) -> None:
        made.x = x

    class Made:
        x: int
        __init__ = fill

    def make_many() -> list[Any]:
        made: Any = Made
        return [made(number).x for number in range(100)]

    for _ in range(3):
        assert make_many() == [*range(100)]
        with system.backend_opts(trace=True) as trace:
            assert make_many() == [*range(100)]
            assert len(trace) == 100


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


def test_a_trace_sees_it() -> None:
    """A trace records calls of it, in its block alone."""
    system, function = make()
    function(1)
    with system.backend_opts(trace=True) as trace:
        function(1)
        function(2)
    assert [event.backend for event in trace] == ["default", "default"]
    function(3)
    assert len(trace) == 2


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


def test_a_backend_that_is_installed_later_is_used(tmp_path: Path) -> None:
    """After `reload`, until it is uninstalled."""
    system = BackendSystem("laterlib.backends", "LATERLIB")
    function: Any = system.dispatchable(("x", "n"), module="lib", qualname="f")(f)
    write_distribution(
        tmp_path,
        "later-backend",
        entry_points={"laterlib.backends": {"late": "later_backend:late.toml"}},
        files={
            "later_backend/__init__.py": "def f(*args, **kwargs):\n    return args, kwargs\n",
            "later_backend/late.toml": f"""
                name = "late"
                primary_types = ["{__name__}:Foreign"]
                [functions."lib:f"]
                function = "later_backend:f"
            """,
        },
    )
    x = Foreign()
    assert function(x) == f(x)
    with isolated(system, path=[tmp_path]):
        assert function(x) == ((x,), {})
        assert function(x, n=1) == ((x,), {"n": 1})
    assert function(x) == f(x)
    sys.path.insert(0, str(tmp_path))
    try:
        system.reload()
        assert function(x) == ((x,), {})
    finally:
        sys.path.remove(str(tmp_path))
    system.reload()
    assert function(x) == f(x)


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


@pytest.mark.parametrize("code", ["s.f(1)", "s.f(1); s.g(s.f)", "s.h(3)"])
def test_a_module_that_is_thrown_away_is_freed(code: str) -> None:
    """With the tables, which lead to the default implementations."""
    namespace: dict[str, Any] = {"__name__": "thrown_away", "BackendSystem": BackendSystem}
    exec(  # noqa: S102  # a module of its own
        "system = BackendSystem(None, 'MYLIB', backends=["
        f"{describe('g')!r}, dict({describe()!r}, name='other', functions={{"
        f"'thrown_away:h': {{'function': '{__name__}:first'}}}})])\n"
        "@system.dispatchable('x')\n"
        "def f(x): return x\n"
        "@system.dispatchable('x', module='lib')\n"
        "def g(x): return f(x)\n"
        "@system.dispatchable('x')\n"
        "def h(x): return 1 if x == 0 else h(x - 1)\n",
        namespace,
    )
    exec(code, {"s": types.SimpleNamespace(**namespace)})  # noqa: S102  # as above
    references = [weakref.ref(namespace[name]) for name in ("system", "f", "g", "h")]
    del namespace
    collect()
    assert [reference() for reference in references] == [None] * 4


def test_a_recursive_function_inside_a_function_is_freed() -> None:
    """Although its closure refers to its wrapper."""

    def use() -> Any:
        system = BackendSystem(None, "MYLIB", backends=[describe("f")])

        @system.dispatchable("x", module="lib", qualname="f")
        def countdown(x: Any) -> Any:
            return 0 if x == 0 else countdown(x - 1)

        assert countdown(3) == 0
        return weakref.ref(countdown)

    reference = use()
    collect()
    assert reference() is None


def test_a_function_that_is_guarded_is_freed() -> None:
    """Although a guard, which watches for registrations, refers to the library."""

    def use() -> Any:
        entry = {"lib:f": {"function": f"{__name__}:first"}}
        fields = {"primary_types": ["@numbers:Number"], "functions": entry}
        system = BackendSystem(None, "MYLIB", backends=[{"name": "abstract", **fields}])
        function: Any = system.dispatchable("x", module="lib", qualname="f")(warn)
        assert function(1j) == "first"
        return weakref.ref(system)

    reference = use()
    collect()
    assert reference() is None


def test_code_can_be_hashed() -> None:
    """Debuggers, IPython and profilers use code objects as keys."""
    _, function = make(f, "x", "f")
    assert {function.__code__: 1}[function.__code__] == 1
    assert function.__code__ == function.__code__
    assert isinstance(hash(make(f, None, "f")[1].__code__), int)


def test_a_module_that_runs_in_a_subclass_of_dict() -> None:
    """Some frameworks run modules in their own mappings."""

    class Namespace(dict[str, Any]):
        pass

    namespace = Namespace(system=BackendSystem(None, "MYLIB"), helper=5)
    exec("@system.dispatchable('x', module='lib')\ndef f(x): return x + helper", namespace)  # noqa: S102  # how else
    assert [namespace["f"](1) for _ in range(3)] == [6, 6, 6]


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
