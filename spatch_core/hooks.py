"""Ready-made hooks: they log calls, trace them, or record which backends ran.

``backend_opts(hook=...)`` puts one in force. A hook is any callable that takes a `Call`.
"""

from __future__ import annotations

import atexit
import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from logging import INFO, Logger
from threading import RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ._errors import stacklevel
from ._hooked import Call, names_before
from ._patterns import type_identifier
from ._wrapper import ASYNC_GENERATOR, COROUTINE

if TYPE_CHECKING:
    from os import PathLike

    from ._discovery import Catalog

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

    def watch(call: Call, nature: int) -> AbstractContextManager[object]:
        # Other code than the caller may resume a generator or coroutine.
        return _Logged(call, logger, level, 1 if nature else stacklevel())

    def hook(call: Call) -> Any:
        if not logger.isEnabledFor(level):
            return call.next(*call.args, **call.kwargs)
        return watched(call, watch)

    return hook


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

    def watch(call: Call, nature: int) -> AbstractContextManager[object]:
        return _Span(tracer, call, is_current=not nature & ~COROUTINE)

    return lambda call: watched(call, watch)


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


Watch: TypeAlias = Callable[[Call, int], AbstractContextManager[object]]
"""Takes the call and the nature of the function; returns a context that surrounds the call."""


def watched(call: Call, watch: Watch) -> Any:
    """Continue a call, in a context from its first step to its last."""
    nature = call._decision.function.nature
    if not nature:
        with watch(call, nature):
            return call.next(*call.args, **call.kwargs)
    if nature & ASYNC_GENERATOR:
        return _streamed(call, watch, nature)
    return (_awaited if nature & COROUTINE else _steps)(call, watch, nature)


async def _awaited(call: Call, watch: Watch, nature: int) -> Any:
    with watch(call, nature):
        return await call.next(*call.args, **call.kwargs)


def _steps(call: Call, watch: Watch, nature: int) -> Any:
    with watch(call, nature):
        return (yield from call.next(*call.args, **call.kwargs))


async def _streamed(call: Call, watch: Watch, nature: int) -> Any:
    # Asynchronous generators have no `yield from`.
    with watch(call, nature):
        items = call.next(*call.args, **call.kwargs)
        step = items.__anext__()
        try:
            while True:
                value = await step
                try:
                    sent = yield value
                except GeneratorExit:
                    await items.aclose()
                    raise
                except BaseException as error:  # noqa: BLE001  # any may be thrown
                    step = items.athrow(error)
                else:
                    # Other iterators have no `asend`.
                    step = items.__anext__() if sent is None else items.asend(sent)
        except StopAsyncIteration:
            return


def _failure(error: BaseException | None) -> BaseException | None:
    """Return the exception of a call; None for a generator that is closed before its end."""
    return None if isinstance(error, GeneratorExit) else error


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
        error = _failure(error)
        outcome = "" if error is None else f" raised {type(error).__name__}"
        self._logger.log(
            self._level,
            "%s(%s) -> %s%s in %.3f ms",
            *(call.function, ", ".join(map(type_identifier, call.types)), call.backend, outcome),
            milliseconds,
            stacklevel=self._depth,
        )


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
        if _failure(error) is None:
            kind = error = traceback = None
        self._started.__exit__(kind, error, traceback)


FORMAT = 1
"""Later versions of the format have larger numbers, and only add keys."""


class Choice(NamedTuple):
    """A choice of a backend, with the facts that it depends on; types are identifiers."""

    function: str
    types: tuple[str, ...]
    backend: str
    before: tuple[str, ...]  # the candidates that go before it
    prioritized: tuple[str, ...]
    disabled: tuple[str, ...]
    type: str  # the option `type`; empty for none
    fallback: str  # the policy of the options; empty for that of the library
    current: str  # the current backend; empty for none
    is_named: bool  # whether `invoke` named the backend, or the instance remembers it


class Record(AbstractContextManager["Record"]):
    """A hook that records which backend ran each function; see `hooks.record`.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    times : bool, optional
        Whether the record says when calls were made.
    """

    def __init__(self, path: str | os.PathLike[str], *, times: bool = False) -> None:
        self._begin = perf_counter()
        self._has_times = times
        self._path = os.path.abspath(path)  # the working directory may change
        self._process = os.getpid()
        self._lock = RLock()
        # The number of the calls, the begin of the first, the end of the last, and their seconds.
        self._seen: dict[Choice, tuple[int, float, float, float]] = {}
        self._catalogs: dict[str, Catalog] = {}
        self._is_registered = False

    def __call__(self, call: Call) -> Any:
        """Make the call, and record the backend."""
        return watched(call, self._watch)

    @contextmanager
    def _watch(self, call: Call, nature: int) -> Iterator[None]:
        remembered = _remembered(call)
        begin = self._now()
        try:
            yield
        finally:
            if call.backend is not None:
                self._add(call, call.backend, remembered, begin, self._now())

    def _now(self) -> float:
        """Return the seconds since the record was made."""
        return perf_counter() - self._begin

    def _add(
        self, call: Call, backend: str, remembered: str | None, begin: float, end: float
    ) -> None:
        decision = call._decision.current()
        is_named = decision.sole or backend == remembered
        before = [] if is_named else names_before(decision.candidates, backend)
        state = decision.state
        key = Choice(
            *(call.function, tuple(map(type_identifier, call.types)), backend, tuple(before)),
            *(state.prioritized, tuple(sorted(state.disabled))),
            "" if state.type is None else type_identifier(state.type),
            *(state.fallback or "", state.backend or ""),
            is_named,
        )
        with self._lock:
            self._catalogs[key.function] = decision.backends.catalog
            count, first, last, seconds = self._seen.get(key, (0, begin, end, 0.0))
            # Calls of several threads may end in another order than they began.
            times = min(first, begin), max(last, end), seconds + end - begin
            self._seen[key] = count + 1, *times
            if not self._is_registered:
                self._is_registered = True
                atexit.register(self._write_at_exit)

    def _write_at_exit(self) -> None:
        # A forked child has the same path, and would overwrite the file of its parent.
        if os.getpid() == self._process:
            self.write()

    def __exit__(self, *error: object) -> None:
        self.write()

    def write(self) -> None:
        """Write the file.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        content = json.dumps(self.content(), indent=2) + "\n"
        with open(self._path, "w", encoding="utf-8") as file:
            file.write(content)
        atexit.unregister(self._write_at_exit)
        self._is_registered = False

    def content(self) -> dict[str, Any]:
        """Return the content of the file, as a dictionary for JSON.

        ``calls`` has one object for each combination of a function, types, backend and options: the
        backend with its distribution and version, the backends that went ``before`` it, and the
        ``count`` of the calls. With `times`, also the begin of the ``first`` call and the end of
        the ``last`` one, in seconds since the record was made, and the total ``seconds``.
        """
        from . import __version__

        with self._lock:
            seen, catalogs = {**self._seen}, {**self._catalogs}
        return {
            "format": FORMAT,
            "spatch_core": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "calls": [
                _as_json(choice, count, catalogs[choice.function], times if self._has_times else ())
                for choice, (count, *times) in sorted(seen.items())
            ],
        }


def _remembered(call: Call) -> str | None:
    """Return the backend that the instance of a call remembers, if it runs the method, too."""
    memory = call._decision.function.memory
    if memory is None or not memory.follows:
        return None
    kept: str = memory.recall(call.args, call.kwargs) or ""
    name = kept.partition(" ")[0]
    return name if name in call._decision.backends.implementers(call.function) else None


def _as_json(
    choice: Choice, count: int, catalog: Catalog, times: Iterable[float]
) -> dict[str, Any]:
    from .examination.importing import origin_of  # deferred to the end of the program

    distribution, version = origin_of(choice.function, choice.backend, catalog.descriptions)
    names = ("first", "last", "seconds")
    return {
        "function": choice.function,
        "types": [*choice.types],
        "backend": choice.backend,
        "distribution": distribution,
        "version": version,
        "before": [*choice.before],
        "options": {
            "prioritize": [*choice.prioritized],
            "disable": [*choice.disabled],
            "type": choice.type or None,
            "fallback": choice.fallback or None,
            "backend": choice.current or None,
        },
        "invoked": choice.is_named,
        "count": count,
        **{name: round(value, 6) for name, value in zip(names, times, strict=False)},
    }
