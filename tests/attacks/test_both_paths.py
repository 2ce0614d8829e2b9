"""The undecorated function, the path through C and the path in pure Python are told apart.

Without the C extension there is one path; it is compared with the undecorated function.
"""

from __future__ import annotations

import inspect
import random
import sys
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import run_python
from tests.python_path import python_only

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attacks.conftest import Tally


class Foreign:
    """A backend's type."""


class Name(str):
    """A name of a keyword argument that is no plain string, but equal to one."""

    __slots__ = ()


class OddName(str):
    """One that is equal to nothing."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


RECEIVED: list[Any] = []


def first(*args: Any, **kwargs: Any) -> Any:
    RECEIVED.append((args, [*kwargs.items()]))
    return "first"


def make(default: Any, dispatch_args: Any, *, implemented: bool, slow: bool) -> Any:
    """Make a library and its function; returns the system, and what calls the function."""
    functions = {"lib:f": {"function": f"{__name__}:first"}} if implemented else {}
    description = {
        "name": "first",
        "primary_types": [f"~{__name__}:Foreign"],
        "functions": functions,
    }
    system = BackendSystem(None, "TWIN", ["builtins:int"], [description])
    function: Any = system.dispatchable(dispatch_args, module="lib", qualname="f")(default)

    return system, function, python_only(function) if slow else function


def outcome(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what a call gives, in a form that can be compared."""
    RECEIVED.clear()
    try:
        result = call(*args, **kwargs)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is compared
        return type(error), str(error), error.__cause__, error.__context__
    return result, [*RECEIVED]


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


def test_random_calls(tally: Tally, scale: int) -> None:
    """Random calls of functions of any signature, compared with the undecorated function."""
    draw = random.Random(17)  # reproducible
    for _ in range(300 * scale):
        default, names = draw_function(draw)
        dispatch_args = draw.choice([None, tuple(draw.sample(names, draw.randint(1, len(names))))])
        implemented = draw.random() < 0.5
        made = [
            make(default, dispatch_args, implemented=implemented, slow=slow)
            for slow in (False, True)
        ]
        for _ in range(15):
            args, kwargs = draw_call(draw, names)
            expected = outcome(default, *args, **kwargs)
            found = [outcome(call, *args, **kwargs) for _, _, call in made]
            held = found[0] == found[1]
            ran_first = found[0][0] == "first"
            if ran_first:
                held = held and found[0][1] == [(tuple(args), [*kwargs.items()])]
            else:
                held = held and found[0] == expected
            tally.add(held, (inspect.signature(default), dispatch_args, args, kwargs, found))
            for system, _, call in made:
                if draw.random() < 0.02:
                    with system.backend_opts(trace=True):
                        outcome(call, *args, **kwargs)


METACLASSES: dict[str, dict[str, Any]] = {
    "no hash": {"__hash__": None},
    "hash raises": {"__hash__": lambda cls: 1 // 0},
    "hash is no number": {"__hash__": lambda cls: "text"},
    "hash is constant": {"__hash__": lambda cls: 1, "__eq__": lambda cls, other: True},
    "== raises": {"__hash__": type.__hash__, "__eq__": lambda cls, other: 1 // 0},
    "== is true": {"__hash__": type.__hash__, "__eq__": lambda cls, other: True},
    "== is false": {"__hash__": type.__hash__, "__eq__": lambda cls, other: False},
    "== is odd": {"__hash__": type.__hash__, "__eq__": lambda cls, other: NotImplemented},
    "hash recurs": {"__hash__": lambda cls: hash(cls)},  # noqa: PLW0108  # endless, which is the attack
}


@pytest.mark.parametrize("base", [object, Foreign])
@pytest.mark.parametrize("odd", METACLASSES)
def test_hostile_metaclasses(odd: str, base: type, tally: Tally, scale: int) -> None:
    """Classes whose metaclass breaks hash or ==."""
    calls = [
        make(lambda *args: "default", {"x": 0, "y": 1}, implemented=True, slow=slow)[2]
        for slow in (False, True)
    ]
    expected = "first" if base is Foreign else "default"
    for _ in range(10 * scale):
        value = type("Meta", (type,), METACLASSES[odd])("Odd", (base,), {})()
        for args in ((value,), (value, None), (None, value), (value, value)):
            found = [outcome(call, *args)[0] for call in calls]
            tally.add(found == [expected] * 2, (args, found))
        for args in ((Foreign(), None), (1, None), (value, 1), (Foreign(), value)):
            found = [outcome(call, *args)[0] for call in calls]
            tally.add(found[0] == found[1], (args, found))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="CPython uses the C stack for such calls")
def test_recursion_on_small_stacks(tally: Tally, scale: int) -> None:
    """Recursion of any depth in threads with stacks of 64 KiB to 1 MiB."""
    depths = [10, 50, 99, 101, 300, 900, 10_000]
    for size in (64, 96, 128, 256, 1024)[: 5 if scale > 1 else 2]:
        done = run_python(
            f"""
            import threading
            from spatch_core import BackendSystem

            class Foreign:
                pass

            def plain(x, n):
                return 0 if n == 0 else 1 + plain(x, n - 1)

            def mutual(x, n, **options):
                return 0 if n == 0 else 1 + (g if n % 2 else f)(x, n=n - 1)

            entry = {{"function": "__main__:mutual"}}
            system = BackendSystem(None, "MYLIB", backends=[dict(
                name="first",
                primary_types=["__main__:Foreign"],
                functions={{"lib:f": entry, "lib:g": entry}},
            )])
            f = system.dispatchable("x", module="lib", qualname="f")(mutual)
            g = system.dispatchable(("n", "x"), module="lib", qualname="g")(mutual)
            f(Foreign(), n=3)

            def outcome(function, depth):
                try:
                    return function(Foreign(), n=depth)
                except RecursionError:
                    return "too deep"

            results = []

            def work():
                for depth in {depths!r}:
                    results.append((depth, outcome(plain, depth), outcome(f, depth)))

            threading.stack_size({size} * 1024)
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            print(results)
            """
        )
        for depth, plain, found in eval(done.stdout):  # noqa: S307  # of our own
            # A decorated level has two frames in pure Python.
            tally.add(found == plain or (found == "too deep" and depth > 450), (size, depth, found))
