"""V4 to V8: conversions and defaults that raise, lie, recur and write, interrupts and threads."""

from __future__ import annotations

import random
import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core import BackendSystem, NoImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attacks.conftest import Tally


class Own:
    """The library's type."""

    def __init__(self, content: object = None) -> None:
        self.content = content


class Foreign:
    """The type that one backend converts, or both."""

    def __init__(self, content: object = None) -> None:
        self.content = content


class Broken(Exception):  # noqa: N818  # as backends name theirs
    """What a conversion raises."""


class Conversions:
    """The conversions of one backend, which do what they are told.

    Parameters
    ----------
    deeds : dict of str to str
        What each conversion does; see the methods.
    """

    def __init__(self, name: str, deeds: dict[str, str]) -> None:
        self.name = name
        self.deeds = deeds
        self.calls: list[str] = []

    def to_default(self, x: Foreign) -> Any:
        return self.do("to_default", x, lambda: Own(x.content))

    def from_default(self, x: Own) -> Any:
        return self.do("from_default", x, lambda: Foreign(x.content))

    def copy_into(self, x: Foreign, made: Any) -> Any:
        def copy() -> None:
            x.content = made.content

        return self.do("copy_into", x, copy)

    def do(self, conversion: str, x: Any, usual: Callable[[], Any]) -> Any:
        self.calls.append(conversion)
        deed = self.deeds.get(conversion, "")
        if deed == "raises":
            raise Broken(self.name)
        if deed == "raises interrupt":
            raise KeyboardInterrupt(self.name)
        if deed == "cannot":
            return None
        if deed == "cannot, and says so":
            raise NotImplementedError("not today")
        if deed == "recurs":
            other = f(Own(1))
            assert type(other) is Own
        if deed == "reloads":
            system.reload()
        if deed == "sets options":
            system.backend_opts(disable=self.name).__enter__()
        if deed == "is itself":
            return x
        if deed == "is a number":
            return 3
        if deed == "is defaults":
            return NotImplemented
        return usual()


one, two = Conversions("one", {}), Conversions("two", {})


def describe(conversions: Conversions) -> dict[str, Any]:
    return {
        "name": conversions.name,
        "primary_types": [f"{__name__}:Foreign"],
        "to_default": conversions.to_default,
        "from_default": conversions.from_default,
        "copy_into": conversions.copy_into,
    }


system = BackendSystem(
    None, "CONVERTING", [f"{__name__}:Own"], [describe(one), describe(two)], fallback="convert"
)
RAN: list[Any] = []


@system.dispatchable("x", module="lib", qualname="f")
def f(x: Any, more: Any = None) -> Any:
    RAN.append(x)
    return Own("result")


@system.dispatchable("x", mutates="out", module="lib", qualname="write")
def write(x: Any, out: Any) -> Any:
    RAN.append(x)
    for each in out if type(out) is list else [out]:
        if type(each) is Own:
            each.content = "written"
    return None


TO = ["", "raises", "raises interrupt", "cannot", "cannot, and says so", "recurs", "reloads"]
TO += ["sets options", "is itself", "is a number", "is defaults"]
BACK = ["", "raises", "cannot", "cannot, and says so", "recurs", "is itself", "is a number"]
BACK += ["is defaults"]
ERRORS = {"raises": Broken, "raises interrupt": KeyboardInterrupt}
ANSWERS = {"is itself": Own, "is a number": int}
UNCONVERTED = ("cannot", "cannot, and says so", "is itself", "is defaults")


def expected(first: str, second: str, back: str) -> tuple[type, bool]:
    """Return the class of the answer or of the error, and whether the default runs."""
    deed = second if first in UNCONVERTED else first
    if deed in UNCONVERTED:
        return NoImplementationError, False
    if deed in ERRORS:
        return ERRORS[deed], False
    if back in ("cannot", "cannot, and says so", "is defaults"):
        return NoImplementationError, True
    return ERRORS.get(back) or ANSWERS.get(back, Foreign), True


def in_force() -> tuple[Any, ...]:
    """Return the options that hold here."""
    options = system.backend_opts()
    return options.prioritized, options.disabled


def answer_of(value: Foreign, more: Any) -> tuple[type, Any]:
    """Call; return the class of the answer or of the error, and the options after it."""
    try:
        found: type = type(f(value, more))
    except BaseException as error:  # noqa: BLE001  # whatever it is
        found = type(error)
    return found, in_force()


def test_conversions_that_misbehave(tally: Tally, scale: int) -> None:
    """The answer follows from what each did; options, arguments and later calls stay the same."""
    draw = random.Random(scale)
    before = in_force()
    for _ in range(700 * scale):
        first, second, back = draw.choice(TO), draw.choice(TO), draw.choice(BACK)
        one.deeds = {"to_default": first, "from_default": back}
        two.deeds = {"to_default": second, "from_default": back}
        value = Foreign()
        more = draw.choice([None, [value], {"a": (Foreign(), 1)}, [Own(), [Foreign()]]])
        shape = repr(more)
        del RAN[:]
        found, now = copy_context().run(answer_of, value, more)
        # What a conversion puts in force is its own affair.
        same = now == before or "sets options" in (first, second)
        ran = any(type(each) is not Own or each.content != 1 for each in RAN)
        held = (found, ran) == expected(first, second, back) and repr(more) == shape and same
        one.deeds, two.deeds = {}, {}
        held = held and type(f(Foreign())) is Foreign and type(f(Own())) is Own
        tally.add(held, (first, second, back, found, ran, now))


@pytest.mark.parametrize("deed", ["", "raises", "raises interrupt", "recurs", "reloads"])
def test_copies_that_misbehave(deed: str, tally: Tally, scale: int) -> None:
    """V8: what `copy_into` raises is the caller's, and nothing else is written."""
    for _ in range(20 * scale):
        one.deeds = {"copy_into": deed}
        for outs in ([Foreign("old")], [Foreign("old"), Foreign("old")]):
            out: Any = outs if len(outs) > 1 else outs[0]
            raised: Any = None
            try:
                write(Foreign("given"), out)
            except (Broken, KeyboardInterrupt) as error:
                raised = type(error)
            contents = {each.content for each in outs}
            wanted = {"old"} if deed in ERRORS else {"written"}
            tally.add((raised, contents) == (ERRORS.get(deed), wanted), (deed, raised, contents))
        one.deeds = {}


@pytest.mark.usefixtures("switching")
def test_threads_that_convert_the_same_objects(tally: Tally, scale: int) -> None:
    """Each call converts for itself, and gives back the caller's objects."""
    one.deeds = two.deeds = {}
    shared = [Foreign(number) for number in range(4)]
    containers = [shared, (shared, shared), {"a": shared, "b": [shared]}]
    rounds = 100 * scale
    wrong: list[Any] = []

    def call(number: int) -> None:
        for turn in range(rounds):
            try:
                value = containers[(turn + number) % 3]
                if type(f(shared[number], value)) is not Foreign:
                    wrong.append("type")
                out = [Foreign("old")]
                write(shared[0], out)
                if out[0].content != "written":
                    wrong.append(out[0].content)
            except BaseException as error:  # noqa: BLE001  # whatever it is
                wrong.append(error)

    try:
        threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        del RAN[:]
    contents = [each.content for each in shared] == [0, 1, 2, 3]
    tally.add_many(4 * rounds, (4 * rounds - len(wrong)) * contents, wrong[:3])
