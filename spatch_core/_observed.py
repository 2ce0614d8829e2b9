"""What users observe of calls: the events of traces, and the names of hooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from ._errors import Published
from ._patterns import DEFAULT, shown
from ._wrapper import ASYNC_GENERATOR, COROUTINE, nature_of

if TYPE_CHECKING:
    from ._hooked import Call

Hook: TypeAlias = Callable[["Call"], Any]


class Outcome(str, Enum):
    """The outcome of one candidate in one call."""

    CALLED = "called"
    CONVERTED = "converted"
    DEFERRED = "deferred"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class TraceEvent(Published):
    """One step of a dispatched call.

    Parameters
    ----------
    function : str
        Identifier of the library's function.
    backend : str
        The candidate; ``"default"`` is the library's own implementation.
    outcome : Outcome
        ``CALLED`` is recorded before the implementation runs, so that the events of calls
        that it makes itself come after its own; ``DEFERRED`` follows if it then defers, and stands
        alone if ``should_run`` or a conversion does. ``CONVERTED`` is recorded for each object
        that is converted.
    reason : str
        Why it deferred; why it was called although it does not match; or the conversion: the type
        before and after, and the number of bytes if known.
    types : tuple of type
        The dispatch types of the call.
    default_name : str, optional
        The name of the library's own implementation in the text.
    """

    function: str
    backend: str
    outcome: Outcome
    reason: str
    types: tuple[type, ...]
    default_name: str = DEFAULT

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.function} -> {shown(self.backend, self.default_name)} {self.outcome}{reason}"


class Trace(list[TraceEvent]):
    """The events of the calls in a traced block, in order.

    ``with backend_opts(trace=True) as trace:`` gives one. Calls append to this list. Printed, it
    has one line per event.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


class PrintedTrace(Trace):
    """The trace that the variable ``<PREFIX>_TRACE`` asks for: a line per event on stderr."""

    __slots__ = ()

    def append(self, event: TraceEvent) -> None:
        """Print an event; it is not kept, because a program may run for days."""
        if sys.stderr is not None:  # as in programs without a console
            sys.stderr.write(f"{event}\n")


def checked_hook(given: Any) -> tuple[Hook]:
    """Return a hook given by a user in the form that a dispatch state holds, a tuple."""
    if not callable(given) or isinstance(given, type):
        hint = f"; did you mean {given.__name__}(...)?" if isinstance(given, type) else ""
        raise TypeError(
            f"hook= takes a callable, which is called with each call, not {given!r}{hint}"
        )
    nature = nature_of(given) or nature_of(type(given).__call__)
    if nature:
        kind = "an asynchronous generator function" if nature & ASYNC_GENERATOR else ""
        kind = kind or ("a coroutine function" if nature & COROUTINE else "a generator function")
        raise TypeError(
            f"hook= takes a plain function, and {hook_name(given)} is {kind}. To await the "
            "result of call.next(...), let the hook return a coroutine that does so"
        )
    return (given,)


def hook_name(hook: Any) -> str:
    """Return the identifier of a function; for another object, the identifier of its class."""
    while type(hook).__module__ == "functools" and hasattr(hook, "func"):
        hook = hook.func  # of a partial
    for each in (hook, type(hook)):
        module, name = (getattr(each, key, None) for key in ("__module__", "__qualname__"))
        if type(module) is str and type(name) is str:
            return f"{module}:{name}"
    return type(hook).__name__
