"""The undecorated function, the path through C and the path in pure Python are told apart.

Without the C extension there is one path; it is compared with the undecorated function.
"""

from __future__ import annotations

import inspect
import random
from typing import TYPE_CHECKING, Any

from spatch_core import BackendSystem
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
