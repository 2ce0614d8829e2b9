"""The C extension: when it is used, and that calls mean the same with it and without it."""

from __future__ import annotations

import gc
import sys
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem
from spatch_core.testing import run_python

ROOT = Path(__file__).parents[2]


class Foreign:
    """A backend's type."""


def implementation(*args: Any, **kwargs: Any) -> Any:
    return "first", args, kwargs


def declines(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


def with_context(context: Any, *args: Any, **kwargs: Any) -> Any:
    return context.name, context.types, context.call_next(*args, **kwargs)


def is_wanted(context: Any, *args: Any, **kwargs: Any) -> Any:
    return "key" not in kwargs or "a key was given"


def fails(*args: Any, **kwargs: Any) -> Any:
    raise LookupError(args)


def default(x: Any = "x", y: Any = "y", *rest: Any, key: Any = "key", **options: Any) -> Any:
    return x, y, rest, key, options


def keyword_only(*, x: Any, y: Any = 1) -> Any:
    return x, y


def positional_only(x: Any, y: Any = 1, /, **options: Any) -> Any:
    return x, y, options


def late(a: Any, b: Any = 2, x: Any = 3) -> Any:
    return a, b, x


ENTRIES: dict[str, dict[str, Any]] = {
    "plain": {"function": implementation},
    "asked": {"function": implementation, "should_run": is_wanted},
    "declines": {"function": declines},
    "context": {"function": with_context, "uses_context": True},
    "fails": {"function": fails},
    "absent": {"function": "no_such_module:f"},
}


def make(default: Any, dispatch_args: Any, entry: str = "plain") -> Any:
    description = {
        "name": "first",
        "primary_types": [f"~{__name__}:Foreign"],
        "functions": {"lib:f": ENTRIES[entry]},
    }
    system = BackendSystem(None, "MYLIB", backends=[description])
    return system, system.dispatchable(dispatch_args, module="lib", qualname="f")(default)


X = Foreign()
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((X,), {}),
    ((1, X), {}),
    ((X, 1, 2, 3), {"key": 4}),
    ((1,), {"y": X, "more": 5}),
    ((), {"y": 1, "x": X}),
    ((), {"a": 1, "x": X}),
    ((1, 2, X), {}),
    ((X,), {"x": 1}),
    ((None,), {"self": X}),
]
SIGNATURES: list[tuple[Any, Any]] = [
    (default, "x"),
    (default, ("x", "y")),
    (default, ("y", "key")),
    (default, None),
    (default, []),
    (default, {"more": None, "y": 1}),
    (default, lambda *args, **kwargs: args[:1]),
    (keyword_only, "x"),
    (positional_only, ("x", "y")),
    (late, "x"),
    (partial(late, 5), "x"),
]


BLOCKS: list[dict[str, Any]] = [
    {},
    {"trace": True},
    {"disable": "first"},
    {"type": Foreign},
    {"hook": lambda call: call.next(*call.args, **call.kwargs)},
]


def outcome(function: Any, args: Any, kwargs: Any) -> Any:
    """Return the result of a call, or the exception's class and text."""
    try:
        return function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001  # all are compared
        return type(error), str(error)


def outcomes() -> list[str]:
    """Call functions of all signatures in all ways, each twice, plain and in blocks of options."""
    found = []
    for dispatched, dispatch_args in SIGNATURES:
        for entry in ENTRIES:
            system, function = make(dispatched, dispatch_args, entry)
            for block in BLOCKS:
                with system.backend_opts(**block):
                    for args, kwargs in CALLS * 2:
                        found.append(repr(outcome(function, args, kwargs)))
    return [each.replace(repr(X), "X") for each in found]


@pytest.mark.slow
def test_calls_mean_the_same_with_c_and_without() -> None:
    """Over kinds of signatures, dispatch arguments, calls, implementations and options."""
    code = f"from {__name__} import outcomes; print(*outcomes(), sep='\\n')"
    accelerated, pure = (
        run_python(code, path=[ROOT], environment={"SPATCH_CORE_PURE": value}).stdout.splitlines()
        for value in ("", "1")
    )
    assert len(pure) > 5_000
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
    _, f = make(default, ("x", "y"))
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
