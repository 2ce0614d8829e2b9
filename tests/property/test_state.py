"""Random nests of blocks, frozen functions, exceptions, threads and tasks against a model."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.library import describe, make


class First:
    """A type of the backends."""


class Second:
    """Another one."""


TYPES = (None, First, Second)
NAMES = ("a", "b", "opted", "default")


def names_itself(context: Any, x: Any) -> Any:
    return context.name, context.types


class MineError(Exception):
    """Raised and caught by the programs."""


@dataclass(frozen=True)
class Options:
    """What one call of `backend_opts` says."""

    prioritize: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    cls: int = 0
    trace: bool = False


@dataclass(frozen=True)
class Expected:
    """What must be in force, as the rules S say."""

    prioritized: tuple[str, ...] = ()
    disabled: frozenset[str] = frozenset()
    cls: type | None = None
    trace: int | None = None  # which options object records

    def inside(self, options: Options, number: int) -> Expected:
        names = dict.fromkeys((*options.prioritize, *self.prioritized))
        return Expected(
            tuple(name for name in names if name not in options.disable),
            (self.disabled - {*options.prioritize}) | {*options.disable},
            TYPES[options.cls] or self.cls,
            number if options.trace else self.trace,
        )

    @property
    def backends(self) -> tuple[str, ...]:
        ordered = dict.fromkeys((*self.prioritized, "default", "a", "b", "opted"))
        return tuple(
            name
            for name in ordered
            if name not in self.disabled and (name != "opted" or name in self.prioritized)
        )


class World:
    """A library, some options objects, and programs that run under them."""

    def __init__(self, pool: list[Options], default: Options | None) -> None:
        types = f"{__name__}:First {__name__}:Second"
        backends = [
            describe(name, names_itself, types, requires_opt_in=name == "opted", uses_context=True)
            for name in NAMES[:-1]
        ]
        self.system, self.f = make(*backends, default=lambda x: ("default", ()), types="")
        self.pool = pool
        self.objects = [self.make(each) for each in pool]
        self.default = Expected()
        if default is not None:
            # The trace of a process-wide default would record what threads do, in any order.
            default = replace(default, trace=False)
            self.make(default).enable_globally()
            self.default = self.default.inside(default, -1)

    def make(self, options: Options) -> Any:
        return self.system.backend_opts(
            options.prioritize, options.disable, TYPES[options.cls], options.trace
        )

    def check(self, expected: Expected) -> None:
        query = self.system.backend_opts()
        assert query.prioritized == expected.prioritized
        assert query.disabled == tuple(sorted(expected.disabled))
        assert query.type is expected.cls
        recording = None if expected.trace is None else self.objects[expected.trace].trace
        assert query.trace is recording
        assert query.backends == expected.backends
        name, types = self.f(First())
        assert name == next((each for each in expected.backends if each != "default"), "default")
        if name != "default":
            assert types == tuple(dict.fromkeys([First, *filter(None, [expected.cls])]))

    async def run(self, program: list[Any], expected: Expected) -> None:
        self.check(expected)
        for (kind, number), inner in program:
            number %= len(self.pool)
            options = self.objects[number]
            nested = expected.inside(self.pool[number], number)
            await asyncio.sleep(0)
            await getattr(self, kind)(options, inner, expected, nested)
            self.check(expected)

    # --- One method for each kind of step.

    async def block(self, options: Any, inner: Any, outer: Expected, nested: Expected) -> None:
        with options as given:
            records = nested.trace is not None and self.objects[nested.trace] is options
            assert given is (options.trace if records else options)
            await self.run(inner, nested)

    async def failing_block(
        self, options: Any, inner: Any, outer: Expected, nested: Expected
    ) -> None:
        with suppress(MineError), options:
            await self.run(inner, nested)
            raise MineError

    async def frozen(self, options: Any, inner: Any, outer: Expected, nested: Expected) -> None:
        function = options(partial(self.run_in_thread, inner, nested, copy=True))
        # What is frozen is in force wherever it is called.
        with self.system.backend_opts(prioritize="b", disable="a"):
            function()

    async def frozen_coroutine(
        self, options: Any, inner: Any, outer: Expected, nested: Expected
    ) -> None:
        async def plain() -> None:
            await self.run(inner, nested)
            raise MineError

        coroutine = options(plain)
        with self.system.backend_opts(prioritize="b", disable="a"):
            task = asyncio.create_task(coroutine())
            with suppress(MineError):
                await coroutine()
        assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], MineError)

    async def tasks(self, options: Any, inner: Any, outer: Expected, nested: Expected) -> None:
        with options:
            waiting = [asyncio.create_task(self.run(inner, nested)) for _ in range(2)]
        waiting.append(asyncio.create_task(self.run(inner, outer)))
        await asyncio.gather(*waiting)

    async def thread(self, options: Any, inner: Any, outer: Expected, nested: Expected) -> None:
        with options:
            self.run_in_thread(inner, self.default, copy=False)

    async def thread_with_context(
        self, options: Any, inner: Any, outer: Expected, nested: Expected
    ) -> None:
        with options:
            self.run_in_thread(inner, nested, copy=True)

    def run_in_thread(self, program: Any, expected: Expected, copy: bool) -> None:
        errors: list[BaseException] = []

        def target() -> None:
            try:
                asyncio.run(self.run(program, expected))
            except BaseException as error:  # noqa: BLE001  # raised again where it belongs
                errors.append(error)

        run = copy_context().run if copy else lambda function: function()
        thread = threading.Thread(target=run, args=(target,))
        thread.start()
        thread.join()
        if errors:
            raise errors[0]

    async def change_tables(
        self, options: Any, inner: Any, outer: Expected, nested: Expected
    ) -> None:
        with options:
            self.system.reload()
            await self.run(inner, nested)


KINDS = [
    "block",
    "block",
    "failing_block",
    "frozen",
    "frozen_coroutine",
    "tasks",
    "thread",
    "thread_with_context",
    "change_tables",
]

names = st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple)
disabled = st.lists(st.sampled_from(NAMES[:-1]), max_size=2, unique=True).map(tuple)
options = st.builds(Options, names, disabled, st.integers(0, 2), st.booleans())
steps = st.tuples(st.sampled_from(KINDS), st.integers(0, 2))
programs: Any = st.lists(st.tuples(steps, st.just([])), min_size=1, max_size=2)
for _ in range(2):
    programs = st.lists(st.tuples(steps, programs), min_size=1, max_size=2)


@settings(max_examples=50)
@given(st.lists(options, min_size=1, max_size=3), st.none() | options, programs)
def test_state_is_what_blocks_say_and_always_restored(
    pool: list[Options], default: Options | None, program: list[Any]
) -> None:
    """S2, S3, S5, S7: however blocks are nested, wherever they run, however they are left."""
    world = World(pool, default)
    world.check(world.default)
    asyncio.run(world.run(program, world.default))
    world.check(world.default)
    # Nothing was left behind in the objects either: they can be entered again.
    for number, each in enumerate(world.objects):
        with each:
            world.check(world.default.inside(world.pool[number], number))
    world.check(world.default)
