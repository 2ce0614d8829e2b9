"""H1 to H4: hooks that raise, recur, reload and set options, and threads."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import threading
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core import BackendSystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attacks.conftest import Tally


class Foreign:
    """The type of a backend."""


class Other:
    """The type of another backend."""


class Broken(Exception):  # noqa: N818  # as programs name theirs
    """What a hook raises."""


def answer_foreign(x: Any) -> Any:
    return "foreign"


def answer_other(x: Any) -> Any:
    return "other"


def steps_foreign(x: Any) -> Any:
    yield "foreign"


def steps_other(x: Any) -> Any:
    yield "other"


async def awaited_foreign(x: Any) -> Any:
    return "foreign"


async def awaited_other(x: Any) -> Any:
    return "other"


async def stream_foreign(x: Any) -> Any:
    yield "foreign"


async def stream_other(x: Any) -> Any:
    yield "other"


def describe(name: str, cls: type, *functions: Any) -> dict[str, Any]:
    names = ("f", "steps", "awaited", "stream")
    return {
        "name": name,
        "primary_types": [f"{__name__}:{cls.__name__}"],
        "functions": {
            f"lib:{key}": {"function": each} for key, each in zip(names, functions, strict=True)
        },
    }


system = BackendSystem(
    None,
    "HOOKED",
    ["builtins:float"],
    [
        describe("one", Foreign, answer_foreign, steps_foreign, awaited_foreign, stream_foreign),
        describe("two", Other, answer_other, steps_other, awaited_other, stream_other),
    ],
)


@system.dispatchable("x", module="lib", qualname="f")
def f(x: Any) -> Any:
    return "default"


@system.dispatchable("x", module="lib", qualname="steps")
def steps(x: Any) -> Any:
    yield "default"


@system.dispatchable("x", module="lib", qualname="awaited")
async def awaited(x: Any) -> Any:
    return "default"


@system.dispatchable("x", module="lib", qualname="stream")
async def stream(x: Any) -> Any:
    yield "default"


@system.dispatchable("x", module="lib", qualname="alone")
def alone(x: Any) -> Any:
    """No backend implements it, so that it is its default implementation while it may be."""
    return "alone"


async def first_of(made: Any) -> Any:
    return await made.__anext__()


# How to get the answer of each function, and what answers like it.
FUNCTIONS: dict[str, tuple[Any, Callable[[Any], Any], Any]] = {
    "plain": (f, lambda made: made, answer_foreign),
    "generator": (steps, next, steps_foreign),
    "coroutine": (awaited, asyncio.run, awaited_foreign),
    "stream": (stream, lambda made: asyncio.run(first_of(made)), stream_foreign),
}
VALUES = {"default": 1.0, "foreign": Foreign(), "other": Other()}
SEEN: list[str] = []


def in_thread(call: Callable[[], Any]) -> Any:
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(call())
        except Broken as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if type(found[0]) is Broken:
        raise Broken
    return found[0]


def in_force() -> tuple[Any, ...]:
    """Return the options that hold here."""
    options = system.backend_opts()
    return options.prioritized, options.disabled


def make_hook(deed: str, answer: Any) -> Callable[[Any], Any]:
    """Return a hook that does one thing; most go on after it."""

    def hook(call: Any) -> Any:
        SEEN.append(deed)
        if deed == "raises":
            raise Broken
        if deed == "steps aside":
            return NotImplemented
        if deed == "answers":
            return answer(None)
        if deed == "changes the type":
            return call.next(VALUES["other"])
        if deed == "goes on in a thread":
            return in_thread(lambda: call.next(*call.args))
        if deed == "goes on twice":
            call.next(*call.args)
        elif deed == "reloads":
            system.reload()
        elif deed == "collects":
            gc.collect()
        elif deed == "registers":
            system.register({"name": "late", "primary_types": ["m:Late"], "functions": {}})
            system.unregister("late")
        elif deed == "disables":
            with system.backend_opts(disable=["one", "two"]):
                return call.next(*call.args)
        elif deed == "leaves options behind":
            system.backend_opts(disable=["one", "two"]).__enter__()
        elif deed == "recurs":
            # Seen by the outer hooks alone; this one and those inside of it are not in force.
            with contextlib.suppress(Broken):
                f(1.0)
        return call.next(*call.args)

    return hook


DEEDS = [
    *("raises", "steps aside", "answers", "changes the type", "goes on in a thread"),
    *("goes on twice", "reloads", "collects", "registers", "disables", "leaves options behind"),
    "recurs",
]


def expected(deeds: list[str], value: str) -> tuple[Any, list[str]]:
    """Return the answer of a call, and which hooks see calls; for hooks from inside to outside."""
    if not deeds:
        return value, []
    deed, rest = deeds[0], deeds[1:]
    if deed == "raises":
        return Broken, [deed]
    if deed == "answers":
        return "foreign", [deed]
    if deed == "changes the type":
        value = "other"
    found, seen = expected(rest, value)
    if deed == "recurs":
        _, before = expected(rest, "default")
        return found, [deed, *before, *seen]
    if deed == "goes on twice" and found is not Broken:
        return found, [deed, *seen, *seen]
    return found, [deed, *seen]


@pytest.mark.parametrize("nature", FUNCTIONS)
def test_hooks_that_misbehave(nature: str, tally: Tally, scale: int) -> None:
    """The answer, and what is seen, follow from what each did; the options stay as they were."""
    draw = random.Random(scale)
    function, run, answer = FUNCTIONS[nature]
    deeds_here = [
        each
        for each in DEEDS
        # A plain function's hooks recur through it; that of others would need their answers.
        if nature == "plain" or each not in ("recurs", "goes on twice", "raises")
    ]

    def ask(deeds: list[str], value: str) -> tuple[Any, bool]:
        """Return the answer under these hooks, and whether the options stay as they were."""
        for each in reversed(deeds):  # the innermost last
            system.backend_opts(hook=make_hook(each, answer)).__enter__()
        before = in_force()
        try:
            found = run(function(VALUES[value]))
        except Broken:
            found = Broken
        return found, in_force() == before

    for _ in range(100 * scale):
        deeds = [draw.choice(deeds_here) for _ in range(draw.randint(1, 4))]
        value = draw.choice([*VALUES])
        del SEEN[:]
        found, same = copy_context().run(ask, deeds, value)
        wanted = expected(deeds, value)
        after = f(Foreign()) == "foreign"
        tally.add((found, SEEN) == wanted and same and after, (deeds, value, found, SEEN, same))


@pytest.mark.usefixtures("switching")
def test_threads_with_and_without_hooks(tally: Tally, scale: int) -> None:
    """Each thread's hooks see its own calls, all of them, and no others."""
    rounds = 60 * scale
    wrong: list[Any] = []

    def call(number: int) -> None:
        draw = random.Random(number)
        seen: list[Any] = []

        def hook(call: Any) -> Any:
            seen.append(call.types)
            return call.next(*call.args)

        try:
            for _ in range(rounds):
                hooks = draw.randint(0, 2)
                count = draw.randint(1, 4)
                del seen[:]
                with contextlib.ExitStack() as stack:
                    for _ in range(hooks):
                        stack.enter_context(system.backend_opts(hook=partial(hook)))
                    for _ in range(count):
                        answers = f(Foreign()), alone(Foreign()), next(steps(1.0))
                        if answers != ("foreign", "alone", "default"):
                            wrong.append(answers)
                if len(seen) != 3 * hooks * count:
                    wrong.append((hooks, seen[:]))
        except BaseException as error:  # noqa: BLE001  # whatever it is
            wrong.append(error)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    tally.add_many(4 * rounds, max(0, 4 * rounds - len(wrong)), wrong[:3])
