"""Calls that put options in force for a moment, and are interrupted: the program of the attacks.

A signal handler raises at a random moment of calls that are made one after the other. Afterwards
the options in force must be those from before, and the next call must give what it gave, with the
same hooks and conversions. No interrupt may get lost, except in a callback of the garbage
collector, and in that of a weak reference where the steps of a coroutine or generator end, from
which CPython lets none out: these are not counted.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import random
import signal
import sys
import warnings
from time import perf_counter
from typing import TYPE_CHECKING, Any

from spatch_core import BackendSystem

if TYPE_CHECKING:
    from collections.abc import Callable

HANG = 60
"""Seconds after which calls count as hanging."""


class Foreign:
    """The type of a backend that implements the functions."""


class Own:
    """The library's type."""

    def __init__(self) -> None:
        self.content: list[object] = []


class Converted(Own):
    """The type of a backend that converts."""


def implementation(x: object) -> object:
    """Answer as the backend."""
    return "backend"


def to_default(x: Converted) -> Own:
    """Convert an argument."""
    made = Own()
    made.content = [*x.content]
    return made


def from_default(x: Own) -> Converted:
    """Convert a result."""
    made = Converted()
    made.content = [*x.content]
    return made


def copy_into(x: Converted, made: Own) -> None:
    """Copy what was written into an argument."""
    x.content = [*made.content]


def describe(name: str, cls: type, **fields: Any) -> dict[str, Any]:
    """Return the description of a backend for one type."""
    return {
        "name": name,
        "primary_types": [f"{__name__}:{cls.__name__}"],
        "functions": {},
        **fields,
    }


IMPLEMENTED = {"lib:f": {"function": f"{__name__}:implementation"}}
CONVERSIONS = {each.__name__: f"{__name__}:{each.__name__}" for each in (to_default, from_default)}

system = BackendSystem(
    None,
    "INTERRUPTED",
    [f"{__name__}:Own"],
    [
        describe("backend", Foreign, functions=IMPLEMENTED),
        describe("converting", Converted, copy_into=f"{__name__}:copy_into", **CONVERSIONS),
    ],
    fallback="convert",
)


@system.dispatchable("x", module="lib", qualname="f")
def f(x: object) -> object:
    """Do nothing."""
    return "default"


@system.dispatchable("x", module="lib", qualname="steps", compositional=True)
def steps(x: object) -> Any:
    """Yield what calls inside of it give."""
    for _ in range(3):
        yield f(x)


@system.dispatchable("x", module="lib", qualname="awaited", compositional=True)
async def awaited(x: object) -> object:
    """Return what a call inside of it gives."""
    return f(x)


@system.dispatchable("x", module="lib", qualname="own")
def own(x: object) -> object:
    """Return an object of the library."""
    return Own()


@system.dispatchable("x", module="lib", qualname="later")
async def later(x: object) -> object:
    """Return an object of the library when it is awaited."""
    return Own()


@system.dispatchable(["x", "out"], mutates="out", module="lib", qualname="write")
def write(x: Any, out: Any) -> None:
    """Write into an argument."""
    out.content = [*x.content, "written"]


SEEN: list[str] = []


def inner(call: Any) -> Any:
    """Take note of a call."""
    SEEN.append("inner")
    return call.next(*call.args, **call.kwargs)


def outer(call: Any) -> Any:
    """Take note of a call, outside of the other hook."""
    SEEN.append("outer")
    return call.next(*call.args, **call.kwargs)


def run(coroutine: Any) -> object:
    """Return the result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


def write_into() -> object:
    """Return what a converted argument has got."""
    x, out = Converted(), Converted()
    x.content = ["given"]
    write(x, out)
    return out.content


def kept_call() -> Callable[[], object]:
    """Return what goes on with a call whose block has ended."""
    kept: list[Any] = []
    with system.backend_opts(hook=kept.append), contextlib.suppress(TypeError):
        f(Foreign())
    return lambda: kept[0].next(Foreign())


def enter(block: Any) -> object:
    """Return what is called in a block."""
    with block:
        return f(1.0), in_force()


options = system.backend_opts
frozen = options(prioritize="backend", hook=inner)(f)
plain = options(prioritize="backend")(f)
both = options(hook=outer), options(hook=inner)
typed = (options(type=Converted),)
shared = options(disable="converting")

# The blocks around the calls, and what is called.
KINDS: dict[str, tuple[tuple[Any, ...], Callable[[], object]]] = {
    "hooks": (both, lambda: f(Foreign())),
    "hooks-of-a-default": (both, lambda: f(1.0)),
    "hooks-of-a-generator": (both, lambda: list(steps(Foreign()))),
    "hooks-of-a-coroutine": (both, lambda: run(awaited(Foreign()))),
    "hooks-that-are-frozen": ((), lambda: frozen(Foreign())),
    "hooks-after-their-block": ((), kept_call()),
    "frozen": ((), lambda: plain(Foreign())),
    "blocks": ((), lambda: enter(options(prioritize="backend"))),
    "blocks-of-one-object": ((shared,), lambda: enter(shared)),
    "blocks-of-a-type": ((), lambda: enter(options(type=Foreign))),
    "blocks-with-a-hook": ((), lambda: enter(options(hook=inner))),
    "blocks-with-a-hook-inside": (both, lambda: enter(options(hook=inner))),
    "conversions": ((), lambda: type(own(Converted()))),
    "conversions-of-a-result": (typed, lambda: type(own([]))),
    "conversions-of-a-coroutine": (typed, lambda: type(run(later([])))),
    "conversions-that-write": ((), write_into),
    "conversions-and-hooks": (both, lambda: type(own(Converted()))),
}


class Interrupt(BaseException):
    """What the signal handler raises."""


def in_force() -> tuple[object, ...]:
    """Return the options that are in force here."""
    now = system.backend_opts()
    return now.prioritized, now.disabled, now.type, now.trace, now.hooks, now.backend


def interrupt(kind: str, globally: bool, seed: int, number: int) -> None:
    """Interrupt calls of one kind at random moments, and print the count."""
    chance = random.Random(seed)
    armed: list[int] = []
    ignored: list[str] = []
    tried, wrong = 0, []

    def handle(signum: int, frame: object) -> None:
        if armed:
            armed.clear()
            raise Interrupt

    def note(unraisable: Any) -> None:
        # The last step of a coroutine or generator may free what it has put in force.
        is_stepwise = kind.endswith(("coroutine", "generator"))
        if not is_stepwise and unraisable.object not in gc.callbacks:
            ignored.append(f"ignored in {unraisable.object}")

    blocks, call = KINDS[kind]

    def call_until() -> None:
        # In a function of its own: CPython 3.12 has no handler at the end of a loop in a `try`. For
        # a limited time: CPython 3.10 may notice a signal only with the next one.
        end = perf_counter() + 0.02
        while armed and perf_counter() < end:
            call()

    signal.signal(signal.SIGALRM, handle)
    sys.unraisablehook = note
    with contextlib.ExitStack() as stack:
        for block in blocks:
            if globally:
                block.enable_globally()
            else:
                stack.enter_context(block)
        call()  # what is made with a first call
        del SEEN[:]
        expected, before, seen = call(), in_force(), [*SEEN]
        faulthandler.dump_traceback_later(HANG * (1 + number // 1000), exit=True)
        while tried < number:
            came_out = False
            try:
                armed.append(1)
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 1e-4))
                call_until()
            except Interrupt:
                came_out = True
            armed.clear()
            tried += came_out or bool(ignored)
            wrong += ignored
            del ignored[:]
            after = in_force()
            del SEEN[:]
            found = call()
            if (after, found, SEEN) != (before, expected, seen):
                wrong.append(f"{before}, {expected}, {seen}; then {after}, {found}, {SEEN}")
    sys.stdout.write(json.dumps([tried, tried - len(wrong), wrong[:5]]))


if __name__ == "__main__":
    import interrupted_calls as program  # type: ignore[import-not-found]  # the types' module

    warnings.simplefilter("ignore")
    program.interrupt(*map(json.loads, sys.argv[1:]))
