"""Records of which backend ran each function of a program, as JSON."""

from __future__ import annotations

import atexit
import json
import os
import platform
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from .._call.invoked_backend import Invoked
from .._classes import type_identifier
from .._state_hooks import Call
from .watched_calls import watched

if TYPE_CHECKING:
    from .._discovery.catalog import Catalog

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
        self._begin = perf_counter() if times else None
        self._times: dict[Choice, tuple[float, float, float]] = {}
        self._path = os.path.abspath(path)  # the working directory may change
        self._process = os.getpid()
        self._lock, self._lock_process = RLock(), self._process
        self._counts: dict[Choice, int] = {}
        self._catalogs: dict[str, Catalog] = {}
        self._is_registered = False

    def __call__(self, call: Call) -> Any:
        return watched(call, self._watch)

    @contextmanager
    def _watch(self, call: Call, nature: int) -> Iterator[None]:
        remembered = _remembered(call)
        begin = perf_counter()
        try:
            yield
        finally:
            if call.backend is not None:
                self._add(call, call.backend, remembered, begin, perf_counter())

    def _add(
        self, call: Call, backend: str, remembered: str | None, begin: float, end: float
    ) -> None:
        hooked = call._hooked
        chain = hooked.last.chain()
        is_named = isinstance(chain, Invoked) or backend == remembered
        # Without conversions, which come last and depend on the fallback policy.
        names = dict.fromkeys(each.backend for each in chain.candidates if each.conversions is None)
        before = [*names][: [*names].index(backend)] if backend in names else [*names]
        before = [] if is_named else before
        state = hooked._state
        key = Choice(
            *(call.function, tuple(map(type_identifier, call.types)), backend, tuple(before)),
            *(state.prioritized, tuple(sorted(state.disabled))),
            "" if state.type is None else type_identifier(state.type),
            state.backend or "",
            is_named,
        )
        catalog = hooked.resolver.catalog
        if os.getpid() != self._lock_process:
            # Another thread of the parent may have held the lock during the fork.
            self._lock, self._lock_process = RLock(), os.getpid()
        with self._lock:
            self._note(key, catalog, begin, end)

    def _note(self, key: Choice, catalog: Catalog, begin: float, end: float) -> None:
        self._catalogs[key.function] = catalog
        self._counts[key] = self._counts.get(key, 0) + 1
        if self._begin is not None:
            first, last, seconds = self._times.get(key, (begin, end, 0.0))
            # Calls of several threads may end in another order than they began.
            times = min(first, begin), max(last, end), seconds + end - begin
            self._times[key] = times
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
        from .. import __version__

        with self._lock:
            counts, times, catalogs = {**self._counts}, {**self._times}, {**self._catalogs}
        return {
            "format": FORMAT,
            "spatch_core": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "calls": [
                {
                    **_as_json(choice, count, catalogs[choice.function]),
                    **self._times_as_json(times.get(choice)),
                }
                for choice, count in sorted(counts.items())
            ],
        }

    def _times_as_json(self, times: tuple[float, float, float] | None) -> dict[str, float]:
        if self._begin is None or times is None:
            return {}
        first, last, seconds = times
        names = {"first": first - self._begin, "last": last - self._begin, "seconds": seconds}
        return {name: round(value, 6) for name, value in names.items()}


def _remembered(call: Call) -> str | None:
    """Return the backend that the instance of a call remembers, if the method follows another."""
    traits = call._hooked.function.traits
    if traits is None or traits.memory is None or not traits.memory.follows:
        return None
    kept: str | None = traits.memory.recall(call.args, call.kwargs)
    return kept and kept.partition(" ")[0]


def _as_json(choice: Choice, count: int, catalog: Catalog) -> dict[str, Any]:
    from ..examination.packages import origin_of  # deferred to the end of the program

    distribution, version = origin_of(choice.function, choice.backend, catalog.descriptions)
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
            "backend": choice.current or None,
        },
        "invoked": choice.is_named,
        "count": count,
    }
