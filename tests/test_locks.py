"""E7: a turn ends however it is left, whatever interrupts it."""

from __future__ import annotations

import os
import sys
import threading
from itertools import count
from typing import Any

import pytest

from spatch_core._locks import Turn, is_running


def hold(turn: Turn) -> tuple[threading.Thread, threading.Event]:
    """Return a thread that has the turn, until the event is set."""
    taken, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        taken.set()
        go_on.wait()

    thread = threading.Thread(target=turn.run, args=(wait,))
    thread.start()
    taken.wait()
    return thread, go_on


def test_only_one_thread_has_the_turn() -> None:
    """The others wait until it is over."""
    turn = Turn()
    thread, go_on = hold(turn)
    order: list[str] = []

    def go() -> None:
        order.append("first")
        go_on.set()

    threading.Timer(0.05, go).start()
    turn.run(lambda: order.append("second"))
    thread.join()
    assert order == ["first", "second"]


def test_it_returns_what_the_function_returns() -> None:
    """Of any function, and its errors pass through."""
    turn = Turn()
    assert turn.run(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        turn.run(lambda: 1 / 0)
    assert turn.run(lambda: 4) == 4


def test_a_thread_may_take_it_twice() -> None:
    """The inner one does not end the turn."""
    turn = Turn()

    def outer() -> bool:
        turn.run(lambda: None)
        return turn.holder().has_turn

    assert turn.run(outer)
    assert not turn.holder().has_turn


def test_it_ends_when_it_is_left_at_any_instruction() -> None:
    """Although the traceback keeps the frames; no exception stays in the thread's state."""
    turn = Turn()
    left = 0
    while True:
        steps = count(1)

        def trace(frame: Any, event: str, _: object, last: int = left, steps: Any = steps) -> Any:
            if event == "call":
                frame.f_trace_opcodes = True
            if next(steps) > last:
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            turn.run(lambda: None)
        except KeyboardInterrupt as error:
            caught: BaseException | None = error
        else:
            caught = None
        finally:
            sys.settrace(before)
        assert sys.exc_info() == (None, None, None)
        assert not turn.holder().has_turn
        thread = threading.Thread(target=turn.run, args=(lambda: None,))
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
        if caught is None:
            break
        assert caught.__traceback__ is not None
        left += 1
    assert left > 50


def test_a_thread_may_give_up() -> None:
    """Asked after each look; then it does not have the turn."""
    turn = Turn()
    thread, go_on = hold(turn)
    found = turn.run(lambda: "ran", lambda holder: holder.thread == thread.ident, "gave up")
    assert found == "gave up"
    go_on.set()
    thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_the_child_of_a_fork_does_not_wait() -> None:
    """Other threads of the parent are not in the child."""
    turn = Turn()
    thread, go_on = hold(turn)
    child = os.fork()
    if not child:
        os._exit(turn.run(lambda: 7))
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_whether_a_frame_runs() -> None:
    """Of this thread, and of none."""

    def other() -> object:
        return sys._getframe()

    assert is_running(sys._getframe())
    assert not is_running(None)
    assert not is_running(other())  # type: ignore[arg-type]
