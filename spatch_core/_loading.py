"""Loads a library's backends when they are first needed; adds and removes some at run time."""

from __future__ import annotations

import sys
from _thread import RLock, get_ident
from collections.abc import Callable, Hashable, Iterable, Iterator
from importlib import invalidate_caches
from os import environ, getpid
from typing import TYPE_CHECKING, Any

from ._backends import Backends
from ._description import Description
from ._discovery import StillImportingError, build_catalog
from ._environment import find_entry_points, read_environment
from ._errors import REGISTERED, Finding, Source, is_first, nearest, warn_caller
from ._options import initial_state
from ._parsing import parse_description
from ._patterns import DEFAULT, TypePattern, is_initializing
from ._wrapper import show_source
from .exceptions import UnknownBackendError

if TYPE_CHECKING:
    from ._decide import Decision
    from ._function import Dispatcher

_ROUNDS = 10
"""How often discovery runs if a module that it imports registers a backend each time."""
_PATIENCE = 5.0
"""How many seconds a thread waits for another one that discovers."""


class Loader:
    """Discovers a library's backends when they are first needed, once for all threads.

    One lock is held while backends are discovered and published. The thread that holds it gets None
    if a module that the discovery imports needs the backends, and so does a thread that has waited
    for `_PATIENCE` seconds: the discovering thread may be waiting for it. All get None while a
    module is being imported that a backend needs.
    """

    def __init__(self, system: Any) -> None:
        self._system = system
        self.loaded: Backends | None = None  # the latest result
        self.told: dict[Hashable, None] = {}  # what users were warned of
        self._importing: list[Any] = []  # the modules that have to be imported first
        self._lock = RLock()
        self._thread: int | None = None  # the one that discovers
        self._process = getpid()
        self._changing = RLock()  # held while the registered backends of the system change

    def ready(self) -> Backends | None:
        """Return the result of discovery; None in a module that discovery waits for."""
        return self.loaded or self.load() or self.loaded

    def get(self) -> Backends:
        """Return the result of discovery; `RuntimeError` in a module that discovery waits for."""
        found = self.ready()
        if found is None:
            raise RuntimeError(
                "the backends are being discovered, and a module that the discovery imports needs "
                "them; use them only after its import"
            )
        return found

    def load(self, again: bool = False) -> Backends | None:
        """Discover the backends, if need be or `again`; None where that has to wait."""
        if not again and any(map(is_initializing, self._importing)):
            return None
        process = getpid()
        if process != self._process:
            # The child of a fork has none of the parent's threads, one of which may discover.
            self._lock, self._thread, self._process = RLock(), None, process
        if self._thread == get_ident() or not self._lock.acquire(timeout=_PATIENCE):
            return None
        try:
            if self.loaded is not None and not again:
                return self.loaded  # another thread loaded it while this one waited
            self._thread = get_ident()
            found = self._discover_and_publish()
        except StillImportingError:
            # Copy, because other threads may import modules meanwhile.
            self._importing = [each for each in [*sys.modules.values()] if is_initializing(each)]
            return None
        finally:
            self._thread = None
            self._lock.release()
        # Last, because a filter may turn warnings into exceptions.
        for warning in found.catalog.warnings():
            if is_first(self.told, str(warning)):
                warn_caller(warning)
        return found

    def _discover_and_publish(self) -> Backends:
        found = _discover(self._system)
        dispatcher = self._system._dispatcher
        # In this order: calls that other threads decide from now on are decided by the new
        # backends, or their decisions are forgotten.
        dispatcher.keeper.set_environment(initial_state(found.catalog))
        self.loaded = found
        try:
            self.forget()
            for record in dispatcher.records:
                document(record, found)
        except BaseException:
            self.loaded = None  # the next caller begins anew
            raise
        return found

    def forget(self) -> None:
        """Drop the tables of functions, the cached options and the values of attributes."""
        dispatcher = self._system._dispatcher
        dispatcher.keeper.forget_tables()
        dispatcher.backend_opts._forget()

    def reload(self) -> None:
        """Discover the backends again; see `BackendSystem.reload`."""
        invalidate_caches()
        self.load(again=True)

    def refresh(self) -> None:
        """Look up implementations and attributes again; see `BackendSystem.refresh`."""
        if self.loaded is not None:
            self.loaded.objects.clear()
            self.forget()

    def register(self, fields: Any) -> None:
        """Add a backend; see `BackendSystem.register`."""
        system = self._system
        functions = tuple(system._dispatcher.by_identifier)
        description = parse_description(fields, Source(REGISTERED), functions=functions)
        problems = *description.problems, *_misspelt(description, system._dispatcher)
        description, name = description._replace(problems=problems), description.name
        with self._changing:
            if any(each.name == name for each in system._registered):
                raise ValueError(
                    f"a backend named {name!r} was registered before; unregister({name!r}) takes "
                    "it away"
                )
            loaded = {} if self.loaded is None else self.loaded.catalog.descriptions
            if name in loaded and loaded[name].in_code:
                raise ValueError(
                    f"the library itself has a backend named {name!r}; register it by another name"
                )
            system._registered = (*system._registered, description)
        self._load_again()

    def unregister(self, name: str) -> None:
        """Take a backend away; see `BackendSystem.unregister`."""
        with self._changing:
            registered = {each.name: each for each in self._system._registered}
            if name not in registered:
                reason = "it was not registered at run time"
                raise UnknownBackendError(name, registered, nearest(name, registered), reason)
            del registered[name]
            self._system._registered = (*registered.values(),)
        self._load_again()

    def _load_again(self) -> None:
        # Before the first discovery, nothing has read the old ones; a running one may have.
        if self._thread is not None or self.loaded is not None:
            self.load(again=True)


def _misspelt(description: Description, dispatcher: Dispatcher) -> Iterator[Finding]:
    """Yield a problem for each identity that no function has, but that is like a function's."""
    adopted = dispatcher.adoptions[0].functions if dispatcher.adoptions else {}
    known = [*dispatcher.by_identifier, *adopted]
    for identifier in description.functions:
        near = [] if identifier in known else nearest(identifier, known, 0.8)
        if near:
            yield Finding(
                f"the library has no function {identifier!r}",
                f"Did you mean {near[0]!r}?",
                *(description.name, f'functions."{identifier}"', description.source),
            )


def _discover(system: Any) -> Backends:
    """Find the backends by the current entry points and environment variables."""
    dispatcher: Dispatcher = system._dispatcher
    group = system.group
    entry_points, problems = find_entry_points(group) if group else ([], [])
    default = Description(
        DEFAULT,
        tuple(map(TypePattern, system._default_types)),
        tuple(map(TypePattern, system._secondary_types)),
        in_code=True,
    )
    for _ in range(_ROUNDS):
        registered = system._registered
        catalog = build_catalog(
            default,
            system._in_code,
            entry_points,
            registered,
            read_environment(system.environ_prefix, environ),
            [*dispatcher.by_identifier],
            system.default_name,
            problems,
        )
        if system._registered is registered:
            break  # else a module that was imported has registered one

    def override(decision: Decision, classes: tuple[type, ...]) -> Callable[..., Any]:
        from ._classes import make_override  # few libraries have a protocol

        return make_override(dispatcher, decision.function, classes, system.protocol)

    about = system._fallback, system._defer_on, system._notify, system.protocol, override
    return Backends(catalog, dispatcher.keeper, dispatcher.ensure_loader().told, *about)


def document(record: Any, backends: Backends | None) -> None:
    """Show the backends in the docstring of a function, and its source in tracebacks."""
    if getattr(record, "shape", None) is None:
        return  # adopted; or the thread that decorates it documents it afterwards
    show_source(record)
    section = "" if backends is None else docs(backends, record.identifier)
    record.wrapper.__doc__ = with_section(record.doc, section)


def docs(backends: Backends, identifier: str) -> str:
    """Return the section "Backends" for the docstring of a function; may be empty."""
    texts = []
    for name in backends.implementers(identifier):
        if name == DEFAULT:
            continue
        description = backends.catalog.descriptions[name]
        implementation = description.implementation(identifier)
        text = implementation.additional_docs.strip() if implementation is not None else ""
        lines = [f"    {line}".rstrip() for line in text.splitlines()]
        texts.append(
            "\n".join([f"{name}\n    {summary_of(description)}", *[""] * bool(lines), *lines])
        )
    return "\n".join(["Backends", "--------", *texts]) if texts else ""


def summary_of(description: Description, quote: str = "", *, links: bool = True) -> str:
    """Return the types of a backend, whether it needs opt-in, and its web address, as text."""

    def listed(types: Iterable[TypePattern]) -> str:
        return ", ".join(f"{quote}{each}{quote}" for each in types)

    text = f"Types: {listed(description.primary_types)}"
    if description.secondary_types:
        text += f"; converts {listed(description.secondary_types)}"
    if description.requires_opt_in:
        text += f'. Needs opt-in: ``prioritize="{description.name}"``'
    # No full stop after an address: some programs would make it part of the link.
    return f"{text}. See {description.url}" if description.url and links else f"{text}."


def with_section(doc: str | None, section: str) -> str | None:
    r"""Return a docstring with a section at its end, indented like its other lines.

    >>> print(with_section("Double.", "Backends\n--------\nfast\n    Less precise."))
    Double.
    <BLANKLINE>
    Backends
    --------
    fast
        Less precise.
    <BLANKLINE>
    """
    if not section:
        return doc
    section = without_prompts(section)
    if not doc:
        return section
    lines = [line for line in doc.splitlines()[1:] if line.strip()]
    margin = min((line[: len(line) - len(line.lstrip())] for line in lines), key=len, default="")
    text = "\n".join([margin + line if line else "" for line in section.splitlines()])
    return f"{doc.rstrip()}\n\n{text}\n{margin}"


def without_prompts(text: str) -> str:
    """Return a backend's text without examples that doctest would run for the library."""
    return text.replace(">>>", "\\>>>")  # reStructuredText shows no backslash there
