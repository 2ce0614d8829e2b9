"""Tells interrupts from errors: exceptions that are no fault of the code that was running.

Third-party code that fails is skipped, once and for all. So an exception must not count as its
failure if it only came while this code was running: `KeyboardInterrupt`, what a signal handler
or a trace function raised, no memory, and no room on the stack.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType
    from typing import Any, TypeVar

    R = TypeVar("R")

_TAKES_ARGS = 0x04  # the flag of code with ``*args``, as `inspect` has it
# Called directly, past what a third party's class has under these names.
_context_of: Any = BaseException.__dict__["__context__"].__get__
_cause_of: Any = BaseException.__dict__["__cause__"].__get__
_traceback_of: Any = BaseException.__dict__["__traceback__"].__get__
_TRACE_EVENTS = ("call", "line", "return", "exception", "opcode")


def find_interrupt(
    error: BaseException, before: BaseException | None = None
) -> BaseException | None:
    """Return the interrupt that led to an exception; None if there was none.

    Parameters
    ----------
    error : BaseException
        An exception that was caught.
    before : BaseException, optional
        The exception that was being handled when the code was called; none before it counts.
    """
    seen: set[int] = {id(before)}
    found: list[BaseException | None] = [error]
    while found:
        each = found.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if is_interrupt(each):
            return each
        # The code may have caught the interrupt, and raised an exception of its own.
        found += [_context_of(each), _cause_of(each)]
    return None


def raise_interrupt(error: BaseException, before: BaseException | None) -> None:
    """Raise the interrupt that led to an exception, if there was one; see `find_interrupt`."""
    interrupt = find_interrupt(error, before)
    if interrupt is not None:
        raise interrupt


def with_memory(run: Callable[[], R]) -> R:
    """Return what a third party's code returns; that it alone wants too much is its fault."""
    for _ in range(2):  # it may be only for a moment that there is no memory
        try:
            return run()
        except MemoryError:
            pass
    bytearray(1 << 20)  # a `MemoryError` for the caller, unless the code alone wants too much
    raise RuntimeError("it asks for more memory than there is")


def is_interrupt(error: BaseException) -> bool:
    """Whether an exception came from outside the code that raised it, as an interrupt does."""
    kind = type(error)  # `isinstance` reads `__class__` of the exception, which may run code
    if issubclass(kind, (KeyboardInterrupt, MemoryError)):
        return True
    if issubclass(kind, RecursionError) and not _has_room(sys.getrecursionlimit() // 2):
        return True
    traceback: TracebackType | None = _traceback_of(error)
    while traceback is not None:
        if _is_inserted(traceback.tb_frame):
            return True
        traceback = traceback.tb_next
    return False


def _has_room(frames: int) -> bool:
    """Whether there is room for so many frames: if not, the caller has recursed."""
    try:
        return frames == 0 or _has_room(frames - 1)
    except RecursionError:
        return False


def _is_inserted(frame: FrameType) -> bool:
    """Whether a frame was not called by the one below it, but put there by the interpreter.

    A signal handler gets the number of the signal and the frame that it interrupts; a trace
    function gets that frame and the name of an event. No other function gets these.
    """
    below, code = frame.f_back, frame.f_code
    if below is None:
        return False
    names, count = code.co_varnames, code.co_argcount
    variables = frame.f_locals
    values = [variables.get(name) for name in names[:count]]
    if code.co_flags & _TAKES_ARGS:
        rest = variables.get(names[count + code.co_kwonlyargcount])
        if type(rest) is tuple:
            values += rest
    for number, value in enumerate(values):
        if value is below:
            before = values[number - 1] if number else None
            after = values[number + 1] if number + 1 < len(values) else None
            return type(before) is int or (type(after) is str and after in _TRACE_EVENTS)
    return False
