"""E1: exceptions that are not the fault of the code that was running."""

from __future__ import annotations

import signal
import sys
from typing import Any

import pytest

from spatch_core._interrupts import find_interrupt, is_interrupt


def caught(call: Any) -> BaseException:
    """Return the exception that a call raises."""
    with pytest.raises(BaseException) as info:  # noqa: PT011  # whatever it is
        call()
    return info.value


def test_what_code_raises_itself() -> None:
    """Of whatever class."""

    def fail(error: BaseException) -> Any:
        def run(number: int = 3, frame: object = None) -> None:
            raise error

        return run

    for error in (ValueError(), SystemExit(), GeneratorExit(), RecursionError()):
        assert not is_interrupt(caught(fail(error)))
    assert is_interrupt(caught(fail(KeyboardInterrupt())))
    assert is_interrupt(caught(fail(MemoryError())))


def test_what_a_signal_handler_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the code raises an exception of its own because of it."""

    def handle(number: int, frame: object) -> None:
        raise LookupError("now")

    def code() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except LookupError:
            raise ImportError("wrapped") from None

    before = signal.signal(signal.SIGINT, handle)
    try:
        error = caught(code)
    finally:
        signal.signal(signal.SIGINT, before)
    interrupt = find_interrupt(error)
    assert isinstance(interrupt, LookupError)
    assert not is_interrupt(error)
    assert find_interrupt(error, before=interrupt) is None


def test_what_a_trace_function_raises() -> None:
    """As a debugger does to stop the program."""

    def trace(frame: Any, event: str, argument: object) -> None:
        if frame.f_code.co_name == "code":
            raise LookupError("quit")

    def code() -> None:
        pass

    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        code()
    except LookupError as error:
        found = error
    finally:
        sys.settrace(outer)
    assert is_interrupt(found)


def test_recursion_near_the_limit() -> None:
    """If little of the stack was left, the caller is to blame."""

    def recurse() -> None:
        recurse()

    def deep(number: int) -> bool:
        if number:
            return deep(number - 1)
        return is_interrupt(caught(recurse))

    assert not is_interrupt(caught(recurse))
    assert deep(int(sys.getrecursionlimit() * 0.7))
