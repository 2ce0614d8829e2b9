"""Tells interrupts from errors: interrupts are not the fault of the code that they stop.

Third-party code that fails is skipped for good. Exceptions that merely arrive while it runs must
not count as its failure: `KeyboardInterrupt`, exceptions raised by signal handlers and trace
functions, and a lack of memory or of stack that its caller has caused.
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
# Called directly, because an exception class may define these names itself.
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
        The exception that was being handled when the code was called; it and the exceptions
        that led to it are left out.
    """
    seen: set[int] = {id(before)}  # contexts and causes may form cycles
    found: list[BaseException | None] = [error]
    while found:
        each = found.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if is_interrupt(each):
            return each
        # The code may have caught the interrupt and raised an exception of its own.
        found += [_context_of(each), _cause_of(each)]
    return None


def raise_interrupt(error: BaseException, before: BaseException | None) -> None:
    """Raise the interrupt that led to an exception, if there was one; see `find_interrupt`."""
    interrupt = find_interrupt(error, before)
    if interrupt is not None:
        raise interrupt


def with_memory(run: Callable[[], R]) -> R:
    """Call third-party code, and blame it for a `MemoryError` only if memory is left for others."""
    for _ in range(2):  # memory may be short only for a moment
        try:
            return run()
        except MemoryError:
            pass
    bytearray(1 << 20)  # raises `MemoryError` if memory is short for all code
    raise RuntimeError("it asks for more memory than there is")


def is_interrupt(error: BaseException) -> bool:
    """Whether an exception came from outside the code that raised it, as an interrupt does."""
    kind = type(error)  # `isinstance` reads `__class__` of the exception, which may run code
    if issubclass(kind, (KeyboardInterrupt, MemoryError)):
        return True
    # The code alone is to blame for infinite recursion if half of the stack was free before.
    if issubclass(kind, RecursionError) and not _has_room(sys.getrecursionlimit() // 2):
        return True
    traceback: TracebackType | None = _traceback_of(error)
    while traceback is not None:
        if _is_inserted(traceback.tb_frame):
            return True
        traceback = traceback.tb_next
    return False


def _has_room(frames: int) -> bool:
    """Whether the stack has room for so many more frames."""
    try:
        return frames == 0 or _has_room(frames - 1)
    except RecursionError:
        return False


def _is_inserted(frame: FrameType) -> bool:
    """Whether the interpreter inserted a frame: that of a signal handler or trace function.

    A signal handler gets the number of the signal and the interrupted frame; a trace function
    gets that frame and the name of an event. Other functions hardly ever get such arguments.
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
