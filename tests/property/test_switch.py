"""Random programs that switch backends in threads, tasks and generators, beside a model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from spatch_core import BackendSystem, UnknownBackendError
from spatch_core.switching import Switch

NAMES = ("a", "b", "c")
LONGEST = 32
MOST = 6  # flows at once
names = st.sampled_from(NAMES)
places = st.integers(0, MOST - 1)


class StopError(Exception):
    """Ends a block."""


def program() -> Generator[Any, Any, None]:
    """Run the actions that are sent; a tuple is a block, in which the next ones run."""
    result = None
    while True:
        action = yield result
        if action == "leave":
            return
        if action == "raise":
            raise StopError
        if isinstance(action, tuple):
            with suppress(StopError), action[0]:
                yield from program()
            result = None
        else:
            result = action()


def attempt(function: Callable[[], Any]) -> Any:
    """Return a result, or the class of an error."""
    try:
        return function()
    except (RuntimeError, UnknownBackendError) as error:
        return type(error)


class Flow:
    """A thread or a task in which `program` runs.

    Attributes
    ----------
    send : callable
        Sends the program an action, and returns its result.
    end : callable
        Ends the program, and leaves its blocks.
    own : tuple of str or None
        Model: the backends that are set in it; None where it follows the default.
    blocks : list
        Model: what was set before each of the blocks that it is in.
    """

    def __init__(
        self, send: Callable[[Any], Any], end: Callable[[], object], own: tuple[str, ...] | None
    ) -> None:
        self.send, self.end, self.own = send, end, own
        self.blocks: list[tuple[str, ...] | None] = []


class Switching(RuleBasedStateMachine):
    """Flows that take turns, each of which switches backends.

    Attributes
    ----------
    default : tuple of str
        The backends that are set in the process-wide default.
    """

    def __init__(self) -> None:
        super().__init__()
        self.system = BackendSystem(None, "SWITCHED", backends=[*map(self.describe, NAMES)])
        self.switch = Switch(self.system)
        self.make = self.system.dispatchable([], module="m", qualname="make")(lambda: "default")
        self.loop = asyncio.new_event_loop()
        self.flows: list[Flow] = []
        self.default: tuple[str, ...] = ()

    @staticmethod
    def describe(name: str) -> dict[str, Any]:
        functions = {"m:make": {"function": lambda: name}}
        return {"name": name, "primary_types": [f"m:{name}"], "functions": functions}

    def current(self, flow: Flow) -> tuple[str, ...]:
        return self.default if flow.own is None else flow.own

    def flow(self, place: int) -> Flow:
        return self.flows[place % len(self.flows)]

    @staticmethod
    def inside(name: str, outer: tuple[str, ...]) -> tuple[str, ...]:
        """What is set in a block of a backend."""
        return outer if outer[:1] == (name,) else (name, *outer[:LONGEST])

    # --- flows ----------------------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        self.thread(Context(), None)

    def thread(self, context: Context, own: tuple[str, ...] | None) -> None:
        inbox: SimpleQueue[Any] = SimpleQueue()
        outbox: SimpleQueue[Any] = SimpleQueue()

        def work() -> None:
            running = program()
            next(running)
            for action in iter(inbox.get, None):
                outbox.put(running.send(action))
            running.close()

        def send(action: Any) -> Any:
            inbox.put(action)
            return outbox.get(timeout=60)

        def end() -> None:
            inbox.put(None)
            thread.join()

        thread = Thread(target=context.run, args=[work], daemon=True)
        thread.start()
        self.flows.append(Flow(send, end, own))

    @precondition(lambda self: len(self.flows) < MOST)
    @rule()
    def start_a_thread(self) -> None:
        """W3: the process-wide default."""
        self.thread(Context(), None)

    @precondition(lambda self: len(self.flows) < MOST)
    @rule(place=places)
    def start_a_thread_with_a_copy(self, place: int) -> None:
        """W3: what is in force where it is made, as with `asyncio.to_thread`."""
        maker = self.flow(place)
        self.thread(maker.send(copy_context), maker.own)

    @precondition(lambda self: len(self.flows) < MOST)
    @rule(place=places)
    def start_a_task(self, place: int) -> None:
        """W3: what is in force where it is made."""
        maker = self.flow(place)
        actions: asyncio.Queue[tuple[Any, asyncio.Future[Any]]] = asyncio.Queue()

        async def work() -> None:
            running = program()
            next(running)
            try:
                while True:
                    action, done = await actions.get()
                    try:
                        done.set_result(running.send(action))
                    except Exception as error:  # noqa: BLE001  # whatever it is
                        done.set_exception(error)  # or who waits for it would wait forever
            finally:
                running.close()

        def send(action: Any) -> Any:
            done = self.loop.create_future()
            actions.put_nowait((action, done))
            return self.loop.run_until_complete(done)

        def end() -> None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                self.loop.run_until_complete(task)

        task = maker.send(lambda: self.loop.create_task(work()))
        self.loop.run_until_complete(asyncio.sleep(0))  # one that never ran cannot clean up
        self.flows.append(Flow(send, end, maker.own))

    @precondition(lambda self: len(self.flows) > 1)
    @rule(place=places)
    def end_one(self, place: int) -> None:
        """W3: what it has set ends with it. The first one stays: it consumes the generators."""
        self.flows.pop(1 + place % (len(self.flows) - 1)).end()

    # --- what they do ---------------------------------------------------------------------

    @rule(place=places, name=names, in_generator=st.booleans())
    def set_backend(self, place: int, name: str, in_generator: bool) -> None:
        """W2, W3: a plain generator sets for its consumer."""

        def steps() -> Generator[None, None, None]:
            self.switch.set_backend(name)
            yield

        flow = self.flow(place)
        flow.send(
            partial(next, steps()) if in_generator else partial(self.switch.set_backend, name)
        )
        flow.own = (name, *self.current(flow)[:LONGEST])

    @rule(place=places, name=names)
    def set_globally(self, place: int, name: str) -> None:
        """W2: in the flow, and for flows that have set none; no other flow loses its own."""
        flow = self.flow(place)
        flow.send(lambda: self.switch.set_backend(name, globally=True))
        flow.own = (name, *self.current(flow)[:LONGEST])
        self.default = (name,)

    @rule(place=places, globally=st.booleans())
    def set_an_unknown_one(self, place: int, globally: bool) -> None:
        found = self.flow(place).send(
            lambda: attempt(lambda: self.switch.set_backend("d", globally=globally))
        )
        assert found is UnknownBackendError

    @rule(place=places)
    def previous(self, place: int) -> None:
        flow = self.flow(place)
        found = flow.send(lambda: attempt(self.switch.previous_backend))
        if not flow.own:
            assert found is RuntimeError
            return
        after = self.default if flow.own == self.default else flow.own[1:]
        flow.own = None if after == self.default else after
        assert found == (self.current(flow) or ("default",))[0]

    @rule(place=places, globally=st.booleans())
    def unset(self, place: int, globally: bool) -> None:
        flow = self.flow(place)
        flow.send(lambda: self.switch.unset_backend(globally=globally))
        if globally:
            self.default = ()
        if flow.own is not None:
            flow.own = () if self.default else None

    @rule(place=places, name=names)
    def enter(self, place: int, name: str) -> None:
        flow = self.flow(place)
        flow.send((self.switch.backend_context(name),))
        flow.blocks.append(flow.own)
        flow.own = self.inside(name, self.current(flow))

    @rule(place=places, how=st.sampled_from(["leave", "raise"]))
    def leave(self, place: int, how: str) -> None:
        """W2: also by an exception."""
        flow = self.flow(place)
        if flow.blocks:
            flow.own = flow.blocks.pop()
            flow.send(how)

    @invariant()
    def all_agree_with_the_model(self) -> None:
        """W1 to W3: what is set, in what order, what is current, and where a call goes."""

        def found() -> Any:
            return (*self.switch,), self.switch.get_backend(), self.make()

        seen = [(flow.send(found), self.current(flow)) for flow in self.flows]
        for actual, expected in [*seen, (Context().run(found), self.default)]:
            name = (expected or ("default",))[0]
            assert actual == (expected[:LONGEST], name, name)

    def teardown(self) -> None:
        """W2: no block that ends changes the default."""
        for flow in reversed(self.flows):
            flow.end()
        self.loop.close()
        assert Context().run(lambda: (*self.switch,)) == self.default


TestSwitching = Switching.TestCase
TestSwitching.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
