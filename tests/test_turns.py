"""E7: a turn ends with the frame that took it, whatever interrupts it."""

from __future__ import annotations

import sys
import threading

import pytest

from spatch_core._turns import Turn, is_running


def test_only_one_thread_has_the_turn() -> None:
    """The others wait until it is given back."""
    turn, taken, go_on = Turn(), threading.Event(), threading.Event()
    order: list[str] = []

    def hold() -> None:
        with turn:
            taken.set()
            go_on.wait()
            order.append("first")

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    threading.Timer(0.05, go_on.set).start()
    with turn:
        order.append("second")
    thread.join()
    assert order == ["first", "second"]


def test_a_thread_may_take_it_twice() -> None:
    """The inner block does not end the turn."""
    turn = Turn()

    def inner() -> None:
        with turn:
            pass

    with turn:
        inner()
        assert turn.holder().has_turn
    assert not turn.holder().has_turn


def test_it_ends_with_the_frame_that_took_it() -> None:
    """Also if it was never given back, and although the traceback keeps the frame."""
    turn = Turn()

    def interrupted() -> None:
        turn.take(sys._getframe())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        interrupted()
    assert not turn.holder().has_turn

    def take() -> None:
        with turn:
            pass

    thread = threading.Thread(target=take)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert caught.value.__traceback__ is not None


def test_a_thread_may_give_up() -> None:
    """Asked after each look; then it does not have the turn."""
    turn, go_on = Turn(), threading.Event()
    taken = threading.Event()

    def hold() -> None:
        with turn:
            taken.set()
            go_on.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    assert not turn.take(sys._getframe(), lambda holder: holder.thread == thread.ident)
    go_on.set()
    thread.join()


def test_whether_a_frame_runs() -> None:
    """Of this thread, and of none."""
    frame = sys._getframe()
    assert is_running(threading.get_ident(), frame)
    assert not is_running(threading.get_ident(), None)
    assert not is_running(-1, frame)
