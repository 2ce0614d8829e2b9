"""The C extension: when it is used, and that calls mean the same with it and without it."""

from __future__ import annotations

import gc
import random
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core.testing import run_python

ROOT = Path(__file__).parents[2]


class Foreign:
    """A backend's type."""

    def __repr__(self) -> str:
        return "Foreign()"


class Name(str):
    """A name of a keyword argument that is no plain string, but equal to one."""

    __slots__ = ()


class OddName(str):
    """One that is equal to nothing."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def implementation(*args: Any, **kwargs: Any) -> Any:
    return "first", args, kwargs


def declines(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


def with_context(context: Any, *args: Any, **kwargs: Any) -> Any:
    return context.name, context.types, context.call_next(*args, **kwargs)


def is_wanted(context: Any, *args: Any, **kwargs: Any) -> Any:
    return "a" not in kwargs or "a was given by its name"


def fails(*args: Any, **kwargs: Any) -> Any:
    raise LookupError(args)


ENTRIES: dict[str, dict[str, Any]] = {
    "plain": {"function": implementation},
    "asked": {"function": implementation, "should_run": is_wanted},
    "declines": {"function": declines},
    "context": {"function": with_context, "uses_context": True},
    "fails": {"function": fails},
    "absent": {"function": "no_such_module:f"},
    "none": {},
}
BLOCKS: list[dict[str, Any]] = [
    {},
    {"trace": True},
    {"disable": "first"},
    {"type": Foreign},
    {"hook": lambda call: call.next(*call.args, **call.kwargs)},
]


def make(default: Any, dispatch_args: Any, entry: str = "plain") -> Any:
    description = {
        "name": "first",
        "primary_types": [f"~{__name__}:Foreign"],
        "functions": {"lib:f": ENTRIES[entry]} if ENTRIES[entry] else {},
    }
    system = BackendSystem(None, "MYLIB", backends=[description])
    return system, system.dispatchable(dispatch_args, module="lib", qualname="f")(default)


def draw_function(draw: random.Random) -> tuple[Any, list[str]]:
    """Return a function of any signature, and the names of its parameters."""
    names = [*"abcdef"[: draw.randint(1, 5)]]
    only = draw.randint(0, 2)
    keywords = names[len(names) - draw.randint(0, 2) :]
    positional = names[: len(names) - len(keywords)]
    optional = draw.randint(0, len(positional))
    parts = [
        name if place < optional else f"{name}='{name}'" for place, name in enumerate(positional)
    ]
    if only and only <= len(parts):
        parts.insert(only, "/")
    rest = draw.random() < 0.5
    if rest or keywords:
        parts.append("*rest" if rest else "*")
    parts += [name if draw.random() < 0.5 else f"{name}='{name}'" for name in keywords]
    if draw.random() < 0.5:
        parts.append("**options")
    namespace: dict[str, Any] = {"__name__": "lib"}
    exec(f"def f({', '.join(parts)}):\n    return sorted(locals().items())\n", namespace)  # noqa: S102  # any signature
    return namespace["f"], names


def draw_call(draw: random.Random, names: list[str]) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments, which need not fit."""
    values = [1, None, "text", Foreign(), 2.5]
    args = [draw.choice(values) for _ in range(draw.randint(0, len(names)))]
    chosen = names[len(args) :] if draw.random() < 0.7 else draw.sample(names, 1)
    kinds: list[Any] = [str, str, str, Name, OddName]
    given = [name for name in chosen if draw.random() < 0.7]
    return args, {draw.choice(kinds)(name): draw.choice(values) for name in given}


def outcome(function: Any, args: Any, kwargs: Any) -> str:
    """Return the result of a call, or the exception's class and text, in words."""
    try:
        return repr(function(*args, **kwargs))
    except Exception as error:  # noqa: BLE001  # all are compared
        return repr((type(error), str(error)))


def outcomes() -> list[str]:
    """Make random calls in all ways, each twice, plain and in blocks of options."""
    draw = random.Random(17)  # the same calls in each process
    found = []
    for _ in range(300):
        default, names = draw_function(draw)
        chosen = draw.sample(names, draw.randint(1, len(names)))
        finder = lambda *args, **kwargs: args[:1]  # noqa: E731
        dispatch_args: Any = draw.choice([None, tuple(chosen), tuple(chosen), [], finder])
        entry = draw.choice([*ENTRIES])
        system, function = make(default, dispatch_args, entry)
        for block in BLOCKS:
            calls = [draw_call(draw, names) for _ in range(5)]
            with system.backend_opts(**block):
                for args, kwargs in calls * 2:
                    found.append(outcome(function, args, kwargs))
                    if entry == "none":
                        assert found[-1] == outcome(default, args, kwargs)
                    elif entry != "context" and found[-1].startswith("('first'"):
                        assert found[-1] == repr(("first", tuple(args), kwargs))  # as given
    return found


@pytest.mark.slow
def test_calls_mean_the_same_with_c_and_without() -> None:
    """Of any signature, dispatch arguments, implementations and options; or as undecorated."""
    code = f"from {__name__} import outcomes; print(*outcomes(), sep='\\n')"
    accelerated, pure = (
        run_python(code, path=[ROOT], environment={"SPATCH_CORE_PURE": value}).stdout.splitlines()
        for value in ("", "1")
    )
    assert len(pure) == 300 * 5 * 10
    assert sum(each.startswith("('first'") for each in pure) > 500
    assert accelerated == pure


@pytest.mark.parametrize("value", ["1", "yes"])
def test_pure_python_on_request(value: str) -> None:
    """``SPATCH_CORE_PURE=1`` leaves the extension alone; `accelerated` says whether it is used."""
    code = "import spatch_core; print(spatch_core.accelerated)"
    done = run_python(code, environment={"SPATCH_CORE_PURE": value})
    assert done.stdout.split() == ["False"]
    if spatch_core.accelerated:
        for used in ("0", "", None):
            done = run_python(code, environment={"SPATCH_CORE_PURE": used})
            assert done.stdout.split() == ["True"]
    assert "accelerated" in dir(spatch_core)


def test_short_lived_classes() -> None:
    """E4: memory stays bounded, and a new class at the address of another is not taken for it."""
    _, f = make(lambda x, y: ("default",), ("x", "y"))
    kept: weakref.WeakSet[Any] = weakref.WeakSet()
    gc.collect()
    gc.freeze()  # collections only traverse objects that are created from now on
    for number in range(10_000):
        is_foreign = number % 3 == 0
        cls = type("Short", (Foreign,) if is_foreign else (), {})
        kept.add(cls)
        for _ in range(2):
            assert (f(cls(), 1)[0] == "first") is is_foreign
        del cls
        if number % 100 == 0:
            gc.collect()
            assert len(kept) < 10
    gc.unfreeze()


def test_endless_recursion_is_a_recursion_error() -> None:
    """An implementation may be the function itself, or call it without Python code."""
    done = run_python(
        """
        import functools
        from spatch_core import BackendSystem

        class Foreign:
            pass

        functions = {"f": "f", "g": "h", "h": "g", "i": "partial", "j": "call"}
        description = {
            "name": "first",
            "primary_types": ["__main__:Foreign"],
            "functions": {f"lib:{n}": {"function": f"__main__:{i}"} for n, i in functions.items()},
        }
        system = BackendSystem(None, "MYLIB", backends=[description])
        f, g, h, i, j = (
            system.dispatchable("x", module="lib", qualname=name)(lambda x: x) for name in "fghij"
        )
        partial = functools.partial(i)
        call = j.__call__
        for function in (f, g, h, i, j):
            try:
                function(Foreign())
            except RecursionError as error:
                print("maximum recursion depth exceeded" in str(error))
        """
    )
    assert done.stdout.split() == ["True"] * 5


@pytest.mark.parametrize("call", ["f(x - 1)", "f(x=x - 1)"], ids=["position", "keyword"])
def test_recursion_is_as_deep_as_in_python(call: str) -> None:
    """Deep recursion of a default implementation does not use up the C stack."""
    # Before 3.12, some calls of Python functions take C stack.
    depth = 20_000 if sys.version_info >= (3, 12) else 5_000
    done = run_python(
        f"""
        import sys
        from spatch_core import BackendSystem

        fields = {{"name": "b", "primary_types": ["builtins:str"]}}
        functions = {{"lib:f": {{"function": "__main__:late"}}}}
        system = BackendSystem(None, "MYLIB", backends=[{{**fields, "functions": functions}}])

        def late(x):
            return "late"

        @system.dispatchable("x", module="lib", qualname="f")
        def f(x):
            return 0 if x == 0 else 1 + {call}

        sys.setrecursionlimit(100_000)
        print([f({depth}) for _ in range(3)] == [{depth}] * 3, f("x"))
        """,
        timeout=120,
    )
    assert done.stdout.splitlines() == ["True late"]


@pytest.mark.skipif(
    sys.version_info < (3, 12), reason="CPython 3.12 was the first with a C path to leave alone"
)
def test_other_interpreters_of_the_process_use_pure_python() -> None:
    """With a lock of their own or not; the main interpreter keeps using C."""
    module = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    pytest.importorskip(module, reason="interpreters cannot be made from Python here")
    code = f"""
        import sys
        import {module} as interpreters

        library = '''if True:
            import spatch_core
            functions = {{"lib:f": {{"function": "operator:neg"}}}}
            fields = {{"name": "b", "primary_types": ["builtins:float"], "functions": functions}}
            system = spatch_core.BackendSystem(None, "L", ["builtins:int"], [fields])
            f = system.dispatchable("x", module="lib", qualname="f")(lambda x: x)
            print(spatch_core.accelerated, [f(1), f(1.5)], flush=True)
        '''
        exec(library)
        for kind in ("isolated", "legacy"):
            if sys.version_info >= (3, 13):
                each = interpreters.create(kind)
                failed = interpreters.exec(each, library)
                assert failed is None, failed.formatted
            else:
                each = interpreters.create(isolated=kind == "isolated")
                interpreters.run_string(each, library)
            interpreters.destroy(each)
        exec(library)
    """
    main = f"{spatch_core.accelerated} [1, -1.5]"
    other = "False [1, -1.5]"
    assert run_python(code, timeout=60).stdout.splitlines() == [main, other, other, main]
