"""Many calls, with the C extension and without: nothing leaks."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import repeat
from typing import Any

import pytest

from spatch_core import BackendSystem

IS_SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
"""Whether AddressSanitizer delays the reuse of freed memory; see CONTRIBUTING.md."""

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="only CPython with its global lock counts references of one thread",
)


class Foreign:
    """A type of both backends."""


class Second(Foreign):
    """A type that options assume."""


class MineError(Exception):
    """Raised by implementations."""


deeds: list[Callable[[], object]] = []
"""What an implementation does before it answers; at most one."""


def answer_first(*args: Any, **kwargs: Any) -> Any:
    if deeds:
        deeds[0]()
    return "first", args, kwargs


def answer_second(*args: Any, **kwargs: Any) -> Any:
    return "second", args, kwargs


def fail(*args: Any, **kwargs: Any) -> Any:
    raise MineError


def defer(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


def is_wanted(context: Any, *args: Any, **kwargs: Any) -> Any:
    return True


def default(x: Any = "x", y: Any = "y", *rest: Any, **options: Any) -> Any:
    return "default", (x, y, *rest), options


def describe(name: str, **functions: Any) -> dict[str, Any]:
    return {
        "name": name,
        "primary_types": [f"~{__name__}:Foreign"],
        "functions": {
            f"lib:{key}": entry if isinstance(entry, dict) else {"function": entry}
            for key, entry in functions.items()
        },
    }


NAMES = ("f", "failing", "deferring", "asking", "plain")


def make() -> tuple[BackendSystem, dict[str, Any]]:
    """Make a library of five functions, of which no backend implements the last."""
    asking = {"function": answer_first, "should_run": is_wanted}
    first = describe("first", f=answer_first, failing=fail, deferring=defer, asking=asking)
    second = describe("second", f=answer_second, deferring=answer_second)
    system = BackendSystem(None, "STRESS", backends=[first, second])
    return system, {
        name: system.dispatchable(("x", "y"), module="lib", qualname=name)(default)
        for name in NAMES
    }


def collect() -> None:
    for _ in range(3):
        gc.collect()


@pytest.fixture(autouse=True)
def undone() -> Any:
    """Remove deeds, and keep collections from traversing the objects of other tests."""
    collect()
    gc.freeze()
    yield
    deeds.clear()
    gc.unfreeze()


class Workload:
    """Ways to call functions, none of which may leak."""

    def __init__(self) -> None:
        self.system, self.functions = make()
        self.x, self.y = Foreign(), object()

    def hit(self, count: int) -> None:
        f, x, y = self.functions["f"], self.x, self.y
        for _ in repeat(None, count):
            f(x, y)
            f(y, x)
            f(x)
            f()

    def keyword(self, count: int) -> None:
        f, x, y = self.functions["f"], self.x, self.y
        for _ in repeat(None, count):
            f(x, y=y)
            f(y=x, x=y)
            f(x, y, 1, key=2)
            f(**{str(b"x", "ascii"): x, str(b"key", "ascii"): x})

    def failing(self, count: int) -> None:
        f, x, y = self.functions["failing"], self.x, self.y
        for _ in repeat(None, count):
            with suppress(MineError):
                f(x, y)
            with suppress(TypeError):
                f(y, y, x=y)

    def deferring(self, count: int) -> None:
        f, asking, x, y = *map(self.functions.get, ("deferring", "asking")), self.x, self.y
        for _ in repeat(None, count):
            f(x, key=y)  # type: ignore[misc]  # they are there
            asking(x, key=y)  # type: ignore[misc]

    def states(self, count: int) -> None:
        f, plain, x = self.functions["f"], self.functions["plain"], self.x
        for _ in repeat(None, count):
            with self.system.backend_opts(prioritize="second"):
                f(x)
            with self.system.backend_opts(type=Second, trace=True):
                f(1, x)
                plain(x)

    def reloading(self, count: int) -> None:
        """Discover the backends again during a call."""
        f, asking, x = self.functions["f"], self.functions["asking"], self.x
        deeds[:] = [self.system.reload]
        for _ in repeat(None, count):
            f(x, x)
            f(x, y=x)
            asking(x)
        deeds.clear()

    def libraries(self, count: int) -> None:
        """Drop a function and its library during a call."""
        for _ in repeat(None, count):
            functions = make()[1]
            functions["f"](self.x)
            deeds[:] = [functions.clear]
            functions["f"](self.x, y=1)
            deeds.clear()
        collect()

    def counts(self) -> list[int]:
        """Return the reference counts of objects that calls use."""
        involved: list[Any] = [
            *(each for f in self.functions.values() for each in (f, f.__wrapped__)),
            *(answer_first, answer_second, fail, defer, default, is_wanted),
            *(self.x, self.y, Foreign, Second, MineError, self.system),
            *(sys.intern(name) for name in ("x", "y", "key")),
            *(NotImplemented, None, ()),
        ]
        return [*map(sys.getrefcount, involved)]


WORK: dict[str, int] = {
    "hit": 160_000,
    "keyword": 70_000,
    "failing": 40_000,
    "deferring": 20_000,
    "states": 2_000,
    "reloading": 20,
    "libraries": 100,
}
"""Repetitions of each way: more than a million calls in all, mostly quick ones."""


@pytest.mark.parametrize("kind", WORK)
def test_calls_leak_nothing(kind: str) -> None:
    """E4: neither references nor memory, whether they return or raise."""
    work = Workload()
    run: Callable[[int], None] = getattr(work, kind)
    for _ in range(2):  # what is remembered once
        run(min(300, WORK[kind]))
    collect()
    counts, blocks = work.counts(), sys.getallocatedblocks()
    run(WORK[kind])
    collect()
    allocated = sys.getallocatedblocks() - blocks
    grown = [after - before for before, after in zip(counts, work.counts(), strict=True)]
    # The state in force owns a few references more or less.
    assert max(map(abs, grown)) < 8, grown
    # Interpreters keep free lists.
    assert allocated < 500 or IS_SANITIZED
