"""When observations begin and end, without a garbage collection."""

from __future__ import annotations

import gc
import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core import BackendSystem
from spatch_core._state.lifetime import Observations, References

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Log:
    """Observations that say when they begin and end."""

    def __init__(self) -> None:
        self.observations = Observations("test")
        self.steps: list[str] = []
        self.observations.before = lambda: self.steps.append("before")
        self.observations.after = lambda: self.steps.append("after")


def test_an_observation_lasts_as_long_as_its_mark() -> None:
    """`before` is called when it counts already, `after` when none is left."""
    log = Log()
    log.observations.before = lambda: log.steps.append(f"before {log.observations.any()}")
    first = log.observations.begin()
    second = log.observations.begin()
    assert first is not second
    del first
    assert log.observations.any()
    del second
    assert not log.observations.any()
    assert log.steps == ["before True", "before True", "after"]


def test_blocks_inside_each_other_share_a_mark() -> None:
    """The inner one begins no new observation; a copy of the context has the mark, too."""
    log = Log()
    variable = log.observations.variable

    def work() -> Any:
        token = variable.set(log.observations.begin())
        inner = variable.set(log.observations.begin())
        copied = copy_context()
        variable.reset(inner)
        variable.reset(token)
        return copied

    copied = copy_context().run(work)
    assert log.steps == ["before"]
    assert log.observations.any()
    del copied
    assert log.steps == ["before", "after"]


class Interrupt(BaseException):
    """What a signal handler may raise."""


def interrupt() -> None:
    raise Interrupt


def test_an_interrupt_of_what_follows_a_block_comes_out() -> None:
    """E7: it is not lost in a callback of a weak reference; the interrupted work is done later."""
    log = Log()
    observations, variable = log.observations, log.observations.variable
    after, observations.after = observations.after, interrupt

    def work() -> None:
        variable.set(observations.begin())
        with pytest.raises(Interrupt):
            observations.put_back(None)
        token = variable.set(observations.begin())
        with pytest.raises(Interrupt):
            observations.leave(token)
        assert log.steps == ["before", "before"]
        observations.after = after
        observations.put_back(None)
        observations.put_back(None)

    copy_context().run(work)
    assert log.steps == ["before", "before", "after"]


def test_an_interrupt_of_what_follows_the_default_comes_out() -> None:
    """E7: the observation of the process-wide default ends with it."""
    system = BackendSystem(None, "MYLIB")
    system.backend_opts(hook=lambda call: call.next()).enable_globally()
    observations = system._dispatcher.keeper.observations
    after, observations.after = observations.after, interrupt
    with pytest.raises(Interrupt):
        system.backend_opts.reset_globally()
    observations.after = after
    assert not observations.any()
    assert system.backend_opts().hooks == ()


def test_what_lasts_elsewhere_is_watched_after_a_block_was_left() -> None:
    """A context that was copied in the block still has the mark."""
    log = Log()
    observations = log.observations

    def work() -> Any:
        observations.variable.set(observations.begin())
        copied = copy_context()
        observations.put_back(None)
        return copied

    copied = copy_context().run(work)
    assert observations.any()
    assert log.steps == ["before"]
    copied.run(observations.put_back, None)
    assert log.steps == ["before", "after"]
    again = copy_context().run(work)
    del again
    assert log.steps == ["before", "after", "before", "after"]


def test_blocks_left_in_another_order() -> None:
    """What is in force again is observed again, as every use of a context variable."""
    system = BackendSystem(None, "MYLIB")
    keeper = system._dispatcher.keeper

    def work() -> list[bool]:
        outer, inner = system.backend_opts(trace=True), system.backend_opts(prioritize="default")
        found = []
        for step in (outer.__enter__, inner.__enter__, outer.__exit__, inner.__exit__):
            step()
            found.append((keeper.current().is_observed, keeper.observations.any()))
        return [each for pair in found for each in pair]

    assert copy_context().run(work) == [True, True, True, True, False, True, True, True]
    assert not keeper.observations.any()


def test_many_threads_begin_and_end_at_once() -> None:
    """In the end none is left, and `after` was called after the last `before`."""
    log = Log()
    start = threading.Barrier(4, timeout=60)

    def work() -> None:
        start.wait()
        for _ in range(500):
            mark = log.observations.begin()
            assert log.observations.any()
            del mark

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not log.observations.any()
    assert log.steps.count("before") == 2000
    assert log.steps[-1] == "after"


def test_references_keep_nothing_alive() -> None:
    """They may change while they are read."""
    references = References()
    objects = [type("Thing", (), {})() for _ in range(3)]
    for each in objects:
        references.add(each)
    del each
    assert references.alive() == objects
    del objects[1]
    assert references.alive() == objects
