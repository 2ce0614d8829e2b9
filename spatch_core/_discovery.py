"""Discovery: entry points, descriptions in code and variables become a `Catalog` of backends.

A `Loader` has it made when a library first needs its backends, once for all threads, and adds and
removes backends at run time. Faults of a backend become problems of the catalog, and never
exceptions of a call.
"""

from __future__ import annotations

import sys
from _thread import RLock, get_ident
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib import invalidate_caches
from os import environ, getpid
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ._backends import Backends
from ._description import (
    EVERY,
    REGISTERED,
    Description,
    Finding,
    Implementation,
    Source,
    reason_to_skip,
    summary_of,
    with_section,
)
from ._environment import (
    BLOCK,
    SET_ORDER,
    Environment,
    RequirementError,
    StillImportingError,
    find_entry_points,
    near_misses,
    read_environment,
    read_installed,
    source_of,
    why_unmet,
)
from ._errors import is_first, nearest, warn_caller
from ._order import CYCLE, Order, base_order, order_backends
from ._parsing import parse_description
from ._patterns import DEFAULT, is_initializing, shown
from ._state import DispatchState
from ._wrapper import show_source
from .exceptions import (
    BackendSkippedWarning,
    DescriptionError,
    EnvironmentVariableWarning,
    SpatchCoreWarning,
    UnknownBackendError,
)

if TYPE_CHECKING:
    from ._function import Dispatcher

REQUIRES = "requires"
"""The key of problems with unmet requirements: the backend is inactive, but not faulty."""
_PATIENCE = 5.0
"""How many seconds a thread waits for another one that discovers."""


# --- The catalog ----------------------------------------------------------------------------------


class Catalog(NamedTuple):
    """The backends of a library at the time of discovery.

    Each name, installed or in code, is in `descriptions`, in `blocked` or in one of the `problems`.
    """

    environment: Environment
    descriptions: Mapping[str, Description]  # by priority; the library itself is "default"
    order: Order  # the same order, with its reasons
    base_order: tuple[str, ...]  # the same names before any edge moves them
    problems: tuple[Finding, ...] = ()  # everything that was skipped or ignored
    blocked: Mapping[str, Source] = MappingProxyType({})  # neither files nor modules were read
    default_name: str = DEFAULT  # of the library itself, for users

    def initial_state(self) -> DispatchState:
        """Return the dispatch state that the environment variables describe."""
        variables = self.environment
        current = variables.backend if self._is_usable(variables.backend) else None
        if variables.backend == self.default_name:
            current = DEFAULT
        trace = None
        if variables.trace:
            from ._explain import PrintedTrace  # few programs are traced

            trace = PrintedTrace()
        prioritized = tuple([name for name in variables.prioritize if self._is_usable(name)])
        return DispatchState(prioritized, backend=current, trace=trace)

    def _is_usable(self, name: object) -> bool:
        found = self.descriptions.get(name)  # type: ignore[call-overload]  # any object
        return found is not None and not found.unmet

    def why_unusable(self, name: str) -> str:
        """Return why an installed backend cannot be used; empty if it is not installed."""
        if name in self.blocked:
            return f"it is blocked by the environment variable {self.environment.variable(BLOCK)}"
        if name in self.descriptions:
            return self.descriptions[name].unmet
        faults = [each for each in self.problems if each.backend == name and each.skips]
        return str(faults[0]) if faults else ""

    def check_backend(self, name: object, may_be_unmet: bool = False) -> str:
        """Return the name of a usable backend, ``"default"`` for the library's own, or raise."""
        if name == self.default_name:
            return DEFAULT
        if self._is_usable(name) or (may_be_unmet and name in self.descriptions):
            return str(name)
        known = tuple([shown(each, self.default_name) for each in self.descriptions])
        reason = self.why_unusable(name) if isinstance(name, str) else ""
        if isinstance(name, str) and "," in name:
            parts = [part.strip() for part in name.split(",")]
            reason = f"a name has no comma; give several names in a list: {parts!r}"
        raise UnknownBackendError(name, known, nearest(name, known), reason)

    def warnings(self) -> Iterator[SpatchCoreWarning]:
        """Yield one warning for each backend or variable that has problems."""
        about: dict[tuple[str, Source | None], list[Finding]] = {}
        for each in self.problems:
            if each.backend is not None and each.warns:
                about.setdefault((each.backend, each.source), []).append(each)
        yield from map(BackendSkippedWarning, about.values())
        for each in self.problems:
            if each.backend is None and each.key is None:
                yield BackendSkippedWarning([each])
            elif each.backend is None:
                yield EnvironmentVariableWarning(each)


# --- How it is built ------------------------------------------------------------------------------


def build_catalog(
    system: Any, entry_points: Iterable[Any], problems: Iterable[Finding] = ()
) -> Catalog:
    """Read the descriptions of all backends of a `BackendSystem`, and order them.

    `problems` came up when the entry points were looked for. Raises `StillImportingError`.
    """
    environment = read_environment(system.environ_prefix, environ)
    functions = [*system._dispatcher.by_identifier]
    default_name = system.default_name
    offers: dict[str | None, list[_Offer]] = {}
    for fields in system._in_code:
        read = partial(parse_description, fields, Source(), None, True, functions)
        offers.setdefault(name_of(fields), []).append(_Offer(Source(), read))
    installed: dict[str, list[_Offer]] = {}
    for each in entry_points:
        source = source_of(each)
        read = partial(read_installed, each, source, functions, environment.variable(BLOCK))
        installed.setdefault(each.name, []).append(_Offer(source, read))
    for description in system._registered:  # in the place of an installed one; read already
        installed[description.name] = [_Offer(description.source, description._replace)]
    for name in sorted(installed):
        others = installed[name]
        # Sorting reads the metadata of the distributions, so it is done only for several.
        if len(others) > 1:
            others.sort(key=lambda each: (each.source.distribution or "", each.source.entry_point))
        offers.setdefault(name, []).extend(others)

    problems = [*problems]
    found: dict[str, Description] = {}
    blocked: dict[str, Source] = {}
    for key, same in offers.items():
        if key is not None and environment.blocks(key):
            blocked[key] = same[0].source
            continue
        used = _read_first(same, problems)
        if used is not None:
            found[used.name] = used
    if default_name in found:
        source = found.pop(default_name).source
        message = f"{default_name!r} is the library's own name"
        about = default_name, "name", source
        problems.append(reason_to_skip(message, "Rename the backend", *about))
    types = system._default_types, system._secondary_types
    found[DEFAULT] = Description(DEFAULT, *types, in_code=True)
    variable = environment.variable(SET_ORDER)
    order = order_backends([*found.values()], environment.set_order)
    for cycle in order.cycles:
        message = f"{CYCLE}: {cycle.in_words(default_name)}"
        remedy = (
            f"Set {variable}={cycle.set_order!r}; else calls that match several of these backends "
            "skip them"
        )
        for name in cycle.members:
            warns = name == cycle.members[0]  # one warning for all of them
            fault = Finding(message, remedy, name, source=found[name].source, warns=warns)
            problems.append(fault)
    names = {DEFAULT, default_name, *filter(None, offers)}
    return Catalog(
        environment,
        {name: found[name] for name in order.names},
        order,
        tuple(base_order([*found.values()])),
        (*problems, *environment.problems, *near_misses(environment.names, names)),
        blocked,
        default_name,
    )


class _Offer(NamedTuple):
    """A description that can be read, and where it comes from."""

    source: Source
    read: Callable[[], Description]


def _read_first(offers: list[_Offer], problems: list[Finding]) -> Description | None:
    """Read the backends of one name until one is usable; add to the problems.

    The library's own come first, in their order, then installed ones, by name of the distribution
    and ``"name = value"``. One with unmet requirements is used only if it is the library's own or
    no other is usable.
    """
    used: Description | None = None
    for offer in offers:
        try:
            description, malformed = adapted(offer.read())
        except DescriptionError as error:
            problems += error.problems
            continue
        problems += (*description.problems, *malformed)
        if used is None or not description.unmet:
            used = description
        if used.in_code or not used.unmet:
            break
    if used is not None and len(offers) > 1:
        places = " and by ".join(_place(each.source) for each in offers)
        by = used.source.distribution or "the library itself"
        message = f"this name is offered by {places}; the backend of {by} is used"
        problems.append(
            Finding(message, "Uninstall or rename the others", used.name, source=used.source)
        )
    return used


def _place(source: Source) -> str:
    """Return the distribution and the folder of a backend, in words."""
    place = source.distribution or str(source)
    with suppress(Exception):  # a third party's finder may have no folders
        return f"{place} in {source.metadata.locate_file('')}"
    return place


def name_of(fields: Any) -> str | None:
    """Return the name in a description in code; None without one."""
    try:
        name = fields["name"] if isinstance(fields, Mapping) else fields.name
    except Exception:  # noqa: BLE001  # of the object's code; parsing reports it
        return None
    return name if isinstance(name, str) else None


def adapted(description: Description) -> tuple[Description, list[Finding]]:
    """Return a description for the distributions that are installed here.

    The first variant whose requirement is met takes the place of an implementation. A function with
    neither such a variant nor a plain implementation is absent. The problems are malformed
    requirements, which count as unmet.
    """
    problems: list[Finding] = []
    why = cache(why_unmet)  # many functions have the same requirements

    def checked(text: str, key: str, effect: str, is_condition: bool) -> str:
        try:
            return why(text, is_condition)
        except RequirementError as error:
            fault = Finding if is_condition else reason_to_skip
            place = description.name, key, description.source
            problems.append(fault(f"{effect} requirement: {error}", error.remedy, *place))
            return str(error)

    inactive = "it is inactive, because of a"
    unmet = [checked(text, REQUIRES, inactive, False) for text in description.requires]
    functions: dict[str, Implementation] = {}
    absent = {}
    every = {} if description.every is None else {EVERY: description.every}
    for identifier, implementation in {**description.functions, **every}.items():
        used, reasons = implementation, []
        for position, variant in enumerate(implementation.variants):
            key = f'functions."{identifier}".variants[{position}].requires'
            unused = "the variant is not used, because of its"
            reasons.append(checked(variant.requires, key, unused, True))
            if not reasons[-1]:
                used = implementation._replace(function=variant.function, variant=variant)
                break
        if used.function:
            functions[identifier] = used
        else:
            absent[identifier] = "; ".join(dict.fromkeys(reasons))
    found = description._replace(
        unmet=next(filter(None, unmet), ""),
        every=functions.pop(EVERY, None),
        functions=MappingProxyType(functions),
        absent=MappingProxyType(absent),
    )
    return found, problems


# --- Loading, once for all threads ----------------------------------------------------------------


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
        system, dispatcher = self._system, self._system._dispatcher
        entry_points, problems = find_entry_points(system.group) if system.group else ([], [])
        while True:
            registered = system._registered
            catalog = build_catalog(system, entry_points, problems)
            if system._registered is registered:  # no module that was imported has registered one
                break
        about = system._fallback, system._defer_on, system._notify, system.protocol
        found = Backends(catalog, dispatcher.keeper, self.told, *about)
        # In this order: calls that other threads decide from now on are decided by the new
        # backends, or their decisions are forgotten.
        dispatcher.keeper.set_environment(catalog.initial_state())
        self.loaded = found
        self.forget()
        for function in dispatcher.functions:
            document(function, found)
        return found

    def forget(self) -> None:
        """Drop the tables of functions and the cached options."""
        dispatcher = self._system._dispatcher
        dispatcher.keeper.forget_tables()
        dispatcher.backend_opts._forget()

    def reload(self) -> None:
        """Discover the backends again; see `BackendSystem.reload`."""
        invalidate_caches()
        self.load(again=True)

    def refresh(self) -> None:
        """Look up implementations again; see `BackendSystem.refresh`."""
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


def document(function: Any, backends: Backends | None) -> None:
    """Show the backends in the docstring of a function, and its source in tracebacks."""
    if getattr(function, "shape", None) is None:
        return  # adopted; or the thread that decorates it documents it afterwards
    show_source(function)
    section = "" if backends is None else docs(backends, function.identifier)
    function.wrapper.__doc__ = with_section(function.doc, section)


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
