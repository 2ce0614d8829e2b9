"""What users observe of calls: the events of traces, and the calls that hooks see."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from ._errors import Published
from ._patterns import DEFAULT, shown
from ._wrapper import ASYNC_GENERATOR, COROUTINE, nature_of

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
        that it makes itself come after its own; ``DEFERRED`` follows if it then returns
        ``NotImplemented``. ``CONVERTED`` is recorded for each object that is converted.
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


class Call:
    """A call of a library's function, as a hook sees it.

    Attributes
    ----------
    args : tuple
        The positional arguments.
    kwargs : dict
        The keyword arguments.

    Notes
    -----
    It is the only argument of a hook, which returns the result of the call. A hook that only
    watches returns ``call.next(*call.args, **call.kwargs)``.
    """

    __slots__ = ("_after", "_found", "_has_gone_on", "_hooked", "_place", "args", "kwargs")

    def __init__(
        self,
        hooked: Any,
        place: int,
        found: tuple[Any, ...] | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.args = args
        self.kwargs = kwargs
        self._hooked = hooked
        self._place = place  # of the hook among the stages
        # The dispatch arguments that were found, and the arguments of that call. With a copy of
        # `kwargs`, because the hook may change the dictionary.
        self._found = None if found is None else (found, args, {**kwargs})
        self._has_gone_on = False
        # Set by `next`: the call of the next hook, or the progress of the chain.
        self._after: Any = None

    @property
    def function(self) -> str:
        """Identifier of the library's function, ``"module:qualname"``."""
        identifier: str = self._hooked.function.identifier
        return identifier

    @property
    def callable(self) -> Callable[..., Any]:
        """The library's function; calling it in the hook starts a new call."""
        wrapper: Callable[..., Any] = self._hooked.record.wrapper
        return wrapper

    @property
    def types(self) -> tuple[type, ...]:
        """The dispatch types."""
        types: tuple[type, ...] = self._hooked.types
        return types

    @property
    def backend(self) -> str | None:
        """The backend that answered or raised; None before `next`, and if all have deferred.

        ``"default"`` is the library's own implementation. For a coroutine function it is final
        when the result of `next` has been awaited.
        """
        found: str | None = getattr(self._progress(), "backend", None)
        return found

    @property
    def deferred(self) -> dict[str, str]:
        """The backends that have deferred since `next`, each with its reason.

        A backend that said `IF_NEEDED` has not deferred.
        """
        return {**getattr(self._progress(), "reasons", {})}

    def _progress(self) -> Any:
        """Return the progress of the chain; None before `next`."""
        after: Any = self
        while type(after) is Call:
            after = after._after
        return after

    def next(self, /, *args: Any, **kwargs: Any) -> Any:
        """Continue the call with these arguments: with the next hook, then with the backends.

        The implementation runs under the options of the call, including this hook, so the hook
        sees the calls that the implementation makes. If the arguments have other types, the
        backends are chosen anew.

        Parameters
        ----------
        *args, **kwargs
            All arguments; ``*call.args, **call.kwargs`` for those of the call.

        Returns
        -------
        object
            The result. For a coroutine function it can be awaited, for a generator function it is
            an iterator, for an asynchronous generator function an asynchronous iterator.
        """
        self._has_gone_on = True
        return self._hooked.go_on(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<Call of {self.function}>"

    def __reduce__(self) -> Any:
        raise TypeError(f"a call of {self.function} cannot be pickled: it belongs to its process")


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
