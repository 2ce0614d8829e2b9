"""Ready-made hooks: they log calls, trace them, or record which backends ran.

``backend_opts(hook=...)`` puts one in force. A hook is any callable that takes a `Call`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from logging import INFO, Logger
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ._callers_line import stacklevel
from ._classes import type_identifier
from ._dispatch_arguments import COROUTINE
from ._observation.program_record import Record
from ._observation.watched_calls import watched
from ._state_hooks import Call

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["Call", "Record", "log", "record", "spans"]


def log(logger: Logger, level: int = INFO) -> Callable[[Call], Any]:
    """Return a hook that logs each call: the types, the backend that answered, and the time.

    Parameters
    ----------
    logger : logging.Logger
        Gets one message per call when the call ends, so nested calls come first. The message
        points at the line of the caller.
    level : int, optional
        The level of the messages. While the logger ignores it, calls are just passed on.

    Returns
    -------
    callable
        The hook.

    Raises
    ------
    TypeError
        If `logger` is not a logger, or `level` not an int.

    Examples
    --------
    >>> import logging, sys
    >>> from spatch_core import BackendSystem, hooks
    >>> logger = logging.Logger("mylib")
    >>> logger.addHandler(logging.StreamHandler(sys.stdout))
    >>> system = BackendSystem(None, "MYLIB")
    >>> @system.dispatchable("x", module="mylib")
    ... def double(x):
    ...     return 2 * x
    >>> with system.backend_opts(hook=hooks.log(logger)):
    ...     double(2)  # doctest: +ELLIPSIS
    mylib:double(builtins:int) -> default in ... ms
    4
    """
    if not callable(getattr(logger, "isEnabledFor", None)):  # loggers and their adapters have it
        raise TypeError(f"log() takes a logger, e.g. logging.getLogger('mylib'), not {logger!r}")
    if not isinstance(level, int):
        raise TypeError(f"log() takes a level such as logging.INFO, not {level!r}")
    return _Log(logger, level)


def spans(tracer: Any) -> Callable[[Call], Any]:
    """Return a hook that makes an OpenTelemetry span of each call.

    The span has the identifier of the function as its name, and the attributes
    ``code.function.name``, ``spatch_core.types`` and ``spatch_core.backend``. Exceptions are
    recorded in it. Spans of nested calls lie inside it. The span of a generator has none inside: it
    is never the current span, because the consumer runs in between.

    Parameters
    ----------
    tracer : opentelemetry.trace.Tracer
        For example ``opentelemetry.trace.get_tracer("mylib")``. This package imports nothing of
        OpenTelemetry.

    Returns
    -------
    callable
        The hook.

    Raises
    ------
    TypeError
        If `tracer` is not a tracer.
    """
    for method in ("start_span", "start_as_current_span"):
        if not callable(getattr(tracer, method, None)):
            raise TypeError(
                "spans() takes a tracer of OpenTelemetry, e.g. "
                f"opentelemetry.trace.get_tracer('mylib'), not {tracer!r}"
            )
    return _Spans(tracer)


def record(path: str | PathLike[str], *, times: bool = False) -> Record:
    """Return a hook that records which backend ran each function, as JSON.

    The file is written at the end of ``with hooks.record(path) as recorded:``, by
    ``recorded.write()``, or else at the end of the program. ``spatch-core replay-check`` says
    whether another environment would choose the same backends.

    Parameters
    ----------
    path : str or os.PathLike
        The file. It is replaced.
    times : bool, optional
        Whether to record when the calls were made and how long they took, for the timeline of
        ``spatch-core report``. Two runs of one program then give different files.

    Returns
    -------
    Record
        The hook. It may be given to the ``backend_opts`` of several libraries.

    Examples
    --------
    >>> import json, os, tempfile
    >>> from spatch_core import BackendSystem, hooks
    >>> system = BackendSystem(None, "MYLIB")
    >>> @system.dispatchable("x", module="mylib")
    ... def double(x):
    ...     return 2 * x
    >>> path = os.path.join(tempfile.mkdtemp(), "run.json")
    >>> with hooks.record(path) as recorded, system.backend_opts(hook=recorded):
    ...     double(2)
    4
    >>> with open(path) as file:
    ...     (call,) = json.load(file)["calls"]
    >>> call["function"], call["types"], call["backend"], call["count"]
    ('mylib:double', ['builtins:int'], 'default', 1)
    """
    return Record(path, times=times)


class _Log:
    """See `log`."""

    def __init__(self, logger: Logger, level: int) -> None:
        self._logger = logger
        self._level = level

    def __call__(self, call: Call) -> Any:
        if not self._logger.isEnabledFor(self._level):
            return call.next(*call.args, **call.kwargs)
        return watched(call, self._watch)

    def _watch(self, call: Call, nature: int) -> AbstractContextManager[object]:
        # Other code than the caller may resume a generator or coroutine.
        depth = 1 if nature else stacklevel()
        return _Logged(call, self._logger, self._level, depth)


class _Logged(AbstractContextManager[object]):
    def __init__(self, call: Call, logger: Logger, level: int, depth: int) -> None:
        self._call = call
        self._logger = logger
        self._level = level
        self._depth = depth
        self._start = perf_counter()

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        milliseconds = (perf_counter() - self._start) * 1000
        call = self._call
        outcome = "" if error is None else f" raised {type(error).__name__}"
        self._logger.log(
            self._level,
            "%s(%s) -> %s%s in %.3f ms",
            *(call.function, ", ".join(map(type_identifier, call.types)), call.backend, outcome),
            milliseconds,
            stacklevel=self._depth,
        )


class _Spans:
    """See `spans`."""

    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer

    def __call__(self, call: Call) -> Any:
        return watched(call, self._watch)

    def _watch(self, call: Call, nature: int) -> AbstractContextManager[object]:
        return _Span(self._tracer, call, is_current=not nature & ~COROUTINE)


class _Span(AbstractContextManager[object]):
    def __init__(self, tracer: Any, call: Call, *, is_current: bool) -> None:
        self._call = call
        start = tracer.start_as_current_span if is_current else tracer.start_span
        attributes = {
            "code.function.name": call.function.replace(":", "."),
            "spatch_core.types": [type_identifier(each) for each in call.types],
        }
        # A context manager in both cases: a span ends itself, but does not become the current one.
        self._started = start(call.function, attributes=attributes)
        self._is_current = is_current
        self._span: Any = None

    def __enter__(self) -> object:
        self._span = self._started.__enter__() if self._is_current else self._started
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if self._call.backend is not None:
            self._span.set_attribute("spatch_core.backend", self._call.backend)
        if not self._is_current and not isinstance(error, Exception):
            kind = error = traceback = None  # as in a current span: closing early is not an error
        self._started.__exit__(kind, error, traceback)
