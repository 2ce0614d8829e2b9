"""Discovery: entry points and descriptions in code come in; a `Catalog` of backends goes out.

The chapters: the catalog; how it is built; how one backend is read; the loader, which does all that
once; backends registered at run time.

Faults of a backend become problems of the catalog, and never exceptions of a call. Where code of a
backend runs, any exception is a fault but `KeyboardInterrupt`, which is the user's.
"""

from __future__ import annotations

import sys
from _thread import RLock, get_ident
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from os import getpid
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from ._callers_line import warn_caller
from ._description.description import Description, Implementation, Variant
from ._description.fields import EVERY
from ._description.files import find_file, parse_toml
from ._description.limits import LimitError
from ._description.parsing import parse_description
from ._environment import (
    BACKEND,
    BLOCK,
    SET_ORDER,
    Environment,
    RequirementError,
    entry_point_target,
    find_entry_points,
    near_misses,
    why_unmet,
)
from ._identifiers import (
    DEFAULT,
    import_identifier,
    is_backend_name,
    is_dotted_name,
    is_initializing,
    nearest,
    shown,
)
from ._order import Order, base_order, order_backends
from ._reporting.errors import DescriptionError
from ._reporting.problems import REGISTERED, Problem, Source, in_words
from ._reporting.unknown_names import UnknownBackendError
from ._reporting.warning_categories import (
    BackendSkippedWarning,
    EnvironmentVariableWarning,
    SpatchCoreWarning,
)
from ._type_patterns import TypePattern

CYCLE = "the declared priorities form a cycle"
NO_PARSER = "TOML files cannot be read here"
REQUIRES = "requires"
"""The key of problems with unmet requirements: the backend is inactive, but not faulty."""
_SHARED = (CYCLE, NO_PARSER)
"""The starts of messages that are the same for several backends."""
_PATIENCE = 5.0
"""How many seconds a thread waits for another one that discovers."""

Found = TypeVar("Found", bound=Any)
"""A catalog, or an object with one as its attribute `catalog`."""


# --- The catalog ----------------------------------------------------------------------------------


class Catalog(NamedTuple):
    """The backends of a library at the time of discovery.

    Each name, installed or in code, is in `descriptions` if its backend is usable, in `blocked` if
    it is blocked, and otherwise in one of the `problems`. Only an
    incomplete catalog may lack names.
    """

    environment: Environment
    descriptions: Mapping[str, Description]  # by priority; the library itself is "default"
    order: Order  # the same order, with its reasons
    base_order: tuple[str, ...]  # the same names before any edge moves them
    problems: tuple[Problem, ...] = ()  # everything that was skipped or ignored
    blocked: Mapping[str, Source] = MappingProxyType({})  # neither files nor modules were read
    is_complete: bool = True  # else a backend must be read again; see `_StillImportingError`
    group: str | None = None
    default_name: str = DEFAULT  # of the library itself, for users

    @property
    def prioritized(self) -> tuple[str, ...]:
        """The usable backends that the environment prioritizes, the foremost first."""
        return tuple([name for name in self.environment.prioritize if self._is_usable(name)])

    @property
    def current(self) -> str | None:
        """The usable backend that the environment makes the current one, or None."""
        name = self.environment.backend
        if name == self.default_name:
            return DEFAULT
        return name if self._is_usable(name) else None

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
        return str(faults[0]) if faults else self._installed_since(name)

    def _installed_since(self, name: str) -> str:
        """Return a message if a backend was installed after the discovery, else an empty text."""
        if self.group is None or not self.is_complete:
            return ""
        from importlib import invalidate_caches

        invalidate_caches()
        for entry_point in find_entry_points(self.group)[0]:
            if entry_point.name == name and entry_point.dist is not None:
                found = entry_point.dist
                return (
                    f"distribution {found.name} {found.version} was installed after the backends "
                    "were discovered; call backend_opts.reload()"
                )
        return ""

    def check_backend(self, name: object, may_be_unmet: bool = False) -> str:
        """Return the name of a usable backend, or raise `UnknownBackendError`.

        The library's own name becomes ``"default"``. With `may_be_unmet`, a backend with unmet
        requirements counts as usable.
        """
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
        # `str(source)` parses the distribution's metadata, so sorting must not call it repeatedly.
        about: dict[tuple[str, str], list[Problem]] = {}
        for each in self.problems:
            if each.backend is not None and each.warns:
                about.setdefault((str(each.source), each.backend), []).append(each)
        # Backends share the messages about cycles and about a missing TOML parser: warn once.
        seen: set[str] = set()
        for _, group in sorted(about.items()):
            faults = [problem for problem in group if problem.message not in seen]
            seen.update(each.message for each in faults if each.message.startswith(_SHARED))
            if faults:
                yield BackendSkippedWarning(faults)
        for problem in self.problems:
            if problem.backend is None and problem.key is None:
                yield BackendSkippedWarning([problem])
            elif problem.backend is None:
                yield EnvironmentVariableWarning(problem)


# --- How it is built ------------------------------------------------------------------------------


def build_catalog(
    entry_points: Iterable[Any],
    in_code: Iterable[Any],
    default_types: Sequence[TypePattern],
    environment: Environment,
    problems: Iterable[Problem] = (),
    group: str | None = None,
    secondary_types: Sequence[TypePattern] = (),
    functions: Collection[str] = (),
    default_name: str = DEFAULT,
    registered: Iterable[Description] = (),
) -> Catalog:
    """Read the descriptions of all backends and order them.

    Parameters
    ----------
    entry_points : iterable of importlib.metadata.EntryPoint
        The entry points of the library's group.
    in_code : iterable of mapping or object
        Descriptions that the library passed itself.
    default_types : sequence of TypePattern
        Primary types of the default implementations.
    environment : Environment
        The library's variables.
    problems : iterable of Problem, optional
        Problems of finding the entry points.
    group : str, optional
        The library's group.
    secondary_types : sequence of TypePattern, optional
        Secondary types of the default implementations.
    functions : collection of str, optional
        Identifiers of the library's functions.
    default_name : str, optional
        The name of the library itself that users see; no backend may have it.
    registered : iterable of Description, optional
        Descriptions registered at run time; they replace installed ones with the same name.
    """
    backends = _Backends(environment, functions)
    for fields in in_code:
        backends.add_in_code(fields)
    for name, offers in groupby(sorted(entry_points, key=_name), key=_name):
        backends.add_installed(name, list(offers))
    for each in registered:
        backends.add_registered(each)
    found = backends.descriptions
    if default_name in found:
        source = found.pop(default_name).source
        message = f"{default_name!r} is the library's own name"
        backends.report(message, "Rename the backend", default_name, "name", source)
    types = tuple(default_types), tuple(secondary_types)
    found[DEFAULT] = Description(DEFAULT, *types, in_code=True)

    variable = environment.variable(SET_ORDER)
    order = order_backends([*found.values()], environment.set_order, variable, skips=False)
    for cycle in order.cycles:
        for name in cycle.members:
            backends.report(
                f"{CYCLE}: {cycle.in_words(default_name)}",
                f"Set {variable}={cycle.set_order!r}; else calls that match several of these "
                "backends skip them",
                name,
                source=found[name].source,
                skips=False,
            )
    library = default_name, environment.variable(BACKEND)
    mentioned = [each for each in environment.names if each != library]
    misspelled = near_misses(mentioned, backends.names, environment.variable(BLOCK))
    return Catalog(
        environment,
        {name: found[name] for name in order.names},
        order._replace(default_name=default_name),
        tuple(base_order([*found.values()])),
        (*problems, *backends.problems, *environment.problems, *misspelled),
        backends.blocked,
        backends.is_complete,
        group,
        default_name,
    )


def _name(entry_point: Any) -> str:
    return str(entry_point.name)


class _Backends:
    """The backends of a library by name, while they are read; of one name, one is used.

    Of backends that share a name, this one is used, and one problem names all of them:

    1. A description in code goes before entry points; of several in code, the first is used.
    2. Of entry points, the first usable one is used, by name of the distribution, then by
       ``"name = value"``.
    3. Entry points after the first usable one are not read.
    4. A backend with unmet requirements is used only if no other is usable.
    """

    def __init__(self, environment: Environment, functions: Collection[str]) -> None:
        self.environment = environment
        self.functions = functions
        self.problems: list[Problem] = []
        self.descriptions: dict[str, Description] = {}
        self.blocked: dict[str, Source] = {}
        self.names = {DEFAULT}  # all that are installed or in code, usable or not
        self.is_complete = True

    def report(
        self,
        message: str,
        remedy: str,
        name: str,
        key: str | None = None,
        source: Source | None = None,
        skips: bool = True,
    ) -> None:
        """Add a problem of a backend."""
        self.problems.append(Problem(message, remedy, name, key, source, skips))

    def add_in_code(self, fields: Any) -> None:
        """Read a description in code, unless its name is blocked or taken."""
        source = Source()
        name = name_of(fields)
        if isinstance(name, str):
            if self._is_blocked(name, source):
                return
            if name in self.descriptions:
                message = "the library passes two backends with this name"
                self.report(message, "Rename one", name, "name", source)
                return
        description = self._read(read_fields, fields, source, None, self.functions, True)
        if description is not None:
            self.descriptions[description.name] = description

    def add_installed(self, name: str, entry_points: Sequence[Any]) -> None:
        """Read the entry points that share a name until one is usable."""
        found = [(source_of(each), each) for each in entry_points]
        if self._is_blocked(name, found[0][0]):
            return
        # Sorting reads the metadata of the distributions, so it is done only for several.
        if len(found) > 1:
            found.sort(key=lambda pair: (pair[0].distribution or "", pair[0].entry_point or ""))
        used = self.descriptions.get(name)  # in code
        offers: list[tuple[Source, str]] = []
        block = self.environment.variable(BLOCK)
        for source, entry_point in found:
            offers.append((source, ""))
            if used is not None and (used.in_code or not used.unmet):
                continue  # it is not read
            try:
                description = self._read(read_installed, entry_point, source, self.functions, block)
            except _StillImportingError:
                self.is_complete = False
                return
            if description is not None:
                offers[-1] = source, description.unmet
                if used is None or not description.unmet:
                    used = description
        if used is None:
            return
        self.descriptions[name] = used
        if len(found) > 1 or used.in_code:
            self._report_shared(used, offers)

    def add_registered(self, description: Description) -> None:
        """Add a description registered at run time, unless its name is blocked or taken."""
        name, source = description.name, description.source
        if self._is_blocked(name, source):
            return
        known = self.descriptions.get(name)
        if known is not None and known.in_code:
            message = "the library itself has a backend with this name"
            self.report(message, "Register it under another name", name, "name", source)
            return
        description = self._adapted(description)
        if known is not None and description.unmet and not known.unmet:
            self._report_shared(known, [(known.source, ""), (source, description.unmet)])
        else:
            self.descriptions[name] = description

    def _is_blocked(self, name: str, source: Source) -> bool:
        """Whether the environment blocks a name; records the name and a blocked backend."""
        self.names.add(name)
        if self.environment.blocks(name):
            self.blocked[name] = source
            return True
        return False

    def _read(self, read: Callable[..., Description], *args: Any) -> Description | None:
        """Read a description; None if it has faults."""
        try:
            return self._adapted(read(*args))
        except DescriptionError as error:
            self.problems += error.problems
            return None

    def _adapted(self, description: Description) -> Description:
        """Return a description for the installed distributions; adds its problems."""
        self.problems += description.problems
        if description.varies:
            description, problems = choose_variants(description)
            self.problems += problems
        unmet = []
        for text in description.requires:
            try:
                unmet.append(why_unmet(text))
            except RequirementError as error:
                unmet.append(str(error))
                self.report(
                    f"it is inactive, because of a requirement: {error}",
                    "Install packaging, or correct the requirement",
                    description.name,
                    REQUIRES,
                    description.source,
                )
        reason = next(filter(None, unmet), "")
        return replace(description, unmet=reason) if reason else description

    def _report_shared(self, used: Description, offers: Iterable[tuple[Source, str]]) -> None:
        """Report backends of one name, each with the reason why it is inactive, or none."""
        self.report(
            f"this name is offered by {' and by '.join(_place(*each) for each in offers)}; the "
            f"backend of {used.source.distribution or 'the library itself'} is used",
            "Uninstall the others, or rename their entry points",
            used.name,
            source=used.source,
            skips=False,
        )


def _place(source: Source, unmet: str) -> str:
    """Return the distribution and the folder of a backend, and why it is inactive, in words."""
    place = source.distribution or str(source)
    if source.metadata is not None:
        with suppress(Exception):  # of a third party's finder, which has no folders
            place = f"{place} in {source.metadata.locate_file('')}"
    return f"{place} (inactive: {unmet})" if unmet else place


def name_of(fields: Any) -> object:
    """Return the name in a description in code; None if reading it fails."""
    try:
        return fields["name"] if isinstance(fields, Mapping) else fields.name
    except Exception:  # noqa: BLE001  # of the object's code; parsing reports it
        return None


def choose_variants(description: Description) -> tuple[Description, list[Problem]]:
    """Choose the first variant of each function whose requirement is met; imports nothing.

    Chosen variants replace the implementations. A function without one, and without a plain
    implementation, is absent. The problems are malformed requirements, which count as unmet.
    """
    problems: list[Problem] = []
    reasons: dict[str, str | RequirementError] = {}

    def choose(implementation: Implementation, path: str) -> tuple[Variant | None, str]:
        failures = []
        for position, variant in enumerate(implementation.variants):
            text = variant.requires
            if text not in reasons:
                try:
                    reasons[text] = why_unmet(text, is_condition=True)
                except RequirementError as error:
                    reasons[text] = error
            reason = reasons[text]
            if not reason:
                return variant, ""
            if isinstance(reason, RequirementError):
                problems.append(
                    Problem(
                        f"the variant is not used, because of its requirement: {reason}",
                        "Install packaging, or correct the requirement",
                        description.name,
                        f"{path}.variants[{position}].requires",
                        description.source,
                        skips=False,
                    )
                )
            failures.append(str(reason))
        return None, "; ".join(dict.fromkeys(failures))

    functions: dict[str, Implementation] = {}
    absent = {}
    every = {} if description.every is None else {EVERY: description.every}
    for identifier, implementation in {**description.functions, **every}.items():
        variant, why = choose(implementation, f'functions."{identifier}"')
        if variant is not None:
            functions[identifier] = replace(
                implementation, function=variant.function, variant=variant
            )
        elif implementation.function:
            functions[identifier] = implementation
        else:
            absent[identifier] = why
    chosen = replace(
        description,
        every=functions.pop(EVERY, None),
        functions=MappingProxyType(functions),
        absent=MappingProxyType(absent),
    )
    return chosen, problems


# --- How one backend is read ----------------------------------------------------------------------


def source_of(entry_point: Any) -> Source:
    """Return where the backend of an entry point comes from."""
    return Source(f"{entry_point.name} = {entry_point.value}", metadata=entry_point.dist)


class _StillImportingError(Exception):
    """A backend needs a module that this thread is importing: not a fault; it is read later."""


def read_installed(
    entry_point: Any, source: Source, functions: Collection[str], block: str
) -> Description:
    """Read the backend of an entry point, or raise `DescriptionError`.

    `functions` are those of the library; `block` is its variable that blocks backends.
    """
    name = entry_point.name
    if not is_backend_name(name) or name == DEFAULT:
        raise _fault(
            f"{name!r} cannot name a backend",
            "Use letters, digits, '_', '.' and '-'; 'default' is the library's own name",
            name,
            source,
        )
    module, attribute, is_file = entry_point_target(entry_point)
    if is_file:
        fields, source = _read_file(name, module, attribute, source)
    else:
        fields = _import_object(name, module, attribute, source, block)
    return read_fields(fields, source, name, functions)


def read_fields(
    fields: Any,
    source: Source,
    expected_name: str | None,
    functions: Collection[str],
    in_code: bool = False,
) -> Description:
    """Parse a description as `parse_description` does; what its object raises is a fault, too."""
    try:
        return parse_description(fields, source, expected_name, in_code, functions)
    except (DescriptionError, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001  # a third party's attributes
        message = f"reading its fields failed with {in_words(error)}"
        remedy = "Repair or uninstall the distribution"
        raise _fault(message, remedy, expected_name or "?", source) from None


def _fault(message: str, remedy: str, name: str, source: Source) -> DescriptionError:
    return DescriptionError([Problem(message, remedy, name, source=source)])


def _read_file(name: str, module: str, file: str, source: Source) -> tuple[Any, Source]:
    """Return the fields of a file in a package, and the source with the file's path."""
    if not is_dotted_name(module) or not is_backend_name(file):
        message = f"'{module}:{file}' does not name a file inside a package"
        remedy = "Write the entry point as 'package.module:file.toml'"
        raise _fault(message, remedy, name, source)
    try:
        path, content = find_file(module, file, source.metadata)
    except Exception as error:  # noqa: BLE001  # a third party's finder or loader
        message = f"the package {module!r} or its file cannot be read ({in_words(error)})"
        raise _fault(message, "Reinstall the distribution", name, source) from None
    if content is None:
        remedy = "Check the entry point, and that the distribution ships the file as package data"
        if not path:  # Python reads the path files of editable installations when it starts
            remedy = (
                "Reinstall the distribution; if it was installed in editable mode while this "
                "process was running, start Python again"
            )
        raise _fault(f"there is no file {file!r} in {path or module!r}", remedy, name, source)
    source = Source(source.entry_point, path, source.metadata)
    try:
        return parse_toml(content), source
    except ImportError as error:  # a vendored copy of this package requires no parser
        message, remedy = f"{NO_PARSER}: {error}", "Install tomli, or use Python 3.11 or later"
    except LimitError as error:
        message, remedy = f"it is not parsed: {error}", "Write a smaller file, with shorter keys"
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, nested too deeply
        message, remedy = f"it is not valid TOML: {error}", "Correct the file"
    raise _fault(message, remedy, name, source)


def _import_object(name: str, module: str, qualname: str, source: Source, block: str) -> object:
    """Import the object of an entry point."""
    if is_initializing(sys.modules.get(module)):
        raise _StillImportingError
    try:
        if qualname:
            return import_identifier(f"{module}:{qualname}")
        from importlib import import_module

        return import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever a backend's module raises
        if _is_circular(error):
            raise _StillImportingError from None
        message = f"importing it failed with {in_words(error)}"
        remedy = (
            f"Repair or uninstall the distribution, or block the backend by setting {block}={name}"
        )
        raise _fault(message, remedy, name, source) from None


def _is_circular(error: BaseException) -> bool:
    """Whether an import may have failed only because modules are being imported."""
    if issubclass(type(error), (ImportError, AttributeError)):
        return any(map(is_initializing, [*sys.modules.values()]))
    # The import system raises this if threads would wait for each other's imports.
    return type(error).__name__ == "_DeadlockError"


# --- The loader -----------------------------------------------------------------------------------


class Loader(Generic[Found]):
    """Discovers a library's backends when they are first needed, once for all threads.

    One lock is held while backends are discovered and while the result is published. The thread
    that holds it gets None if a module that the discovery imports needs the backends, and so does a
    thread that has waited for `_PATIENCE` seconds: the discovering thread may be waiting for it,
    because a backend's module has started it, or for a module that it is importing.

    If discovery raises, nothing has changed, and the next caller tries again. If publishing does,
    the next caller publishes.

    *Provisional*: the backends were needed while a backend's module, or a module that the backend
    needs, was being imported. The result without that backend is neither published nor warned
    about, and is used until the imports have ended.

    Parameters
    ----------
    discover : callable
        Returns a new result, whose ``catalog`` says whether it is complete; may import modules.
    publish : callable
        Takes each complete result when it has become `loaded`.

    Attributes
    ----------
    loaded : object or None
        The latest complete result.
    """

    def __init__(self, discover: Callable[[], Found], publish: Callable[[Found], None]) -> None:
        self._discover = discover
        self._publish = publish
        self.loaded: Found | None = None
        self._is_published = True
        self._provisional: tuple[Found, list[Any]] | None = None  # with the imports going on
        self._lock = RLock()
        self._thread: int | None = None  # the one that discovers
        self._process = getpid()

    @property
    def settled(self) -> Found | None:
        """The latest complete result, if all of it has been published."""
        return self.loaded if self._is_published else None

    @property
    def is_discovering(self) -> bool:
        """Whether a thread is discovering; true until its result is `loaded`."""
        return self._thread is not None

    def get(self) -> Found:
        """Return the result of discovery; `RuntimeError` in a module that discovery waits for."""
        found = self.settled or self.load() or self.loaded
        if found is None:
            raise RuntimeError(
                "the backends are being discovered, and a module that the discovery imports needs "
                "them; use them only after its import"
            )
        return found

    def load(self, again: bool = False) -> Found | None:
        """Discover the backends, if need be or `again`.

        None if this thread is discovering them already, or has waited in vain for another one.
        """
        provisional = self._provisional  # read once: another thread may replace it
        if not again and provisional is not None and any(map(is_initializing, provisional[1])):
            return provisional[0]
        process = getpid()
        if process != self._process:
            # The child of a fork has none of the parent's threads, one of which may discover.
            self._lock, self._thread, self._process = RLock(), None, process
        if self._thread == get_ident() or not self._lock.acquire(timeout=_PATIENCE):
            return None
        try:
            self._thread = get_ident()
            found, is_new = self._load(again)
        finally:
            self._thread = None
            self._lock.release()
        if is_new:
            # Last, because a filter may turn warnings into exceptions.
            for warning in found.catalog.warnings():
                warn_caller(warning)
        return found

    def _load(self, again: bool) -> tuple[Found, bool]:
        """Return the result of discovery, and whether this call has loaded it."""
        self._provisional = None
        if self.loaded is not None and not self._is_published:  # it was interrupted
            self._settle(self.loaded)
        if self.loaded is not None and not again:
            return self.loaded, False  # another thread loaded it while this one waited
        found = self._discover()
        if not found.catalog.is_complete:
            # Copy, because other threads may import modules meanwhile.
            importing = [each for each in [*sys.modules.values()] if is_initializing(each)]
            self._provisional = found, importing
            return found, False
        self._settle(found)
        return found, True

    def _settle(self, found: Found) -> None:
        """Make a result the loaded one, and publish it."""
        # In this order, so that an unpublished result never counts as settled.
        self._is_published = False
        self.loaded = found
        self._publish(found)
        self._is_published = True


# --- Backends registered at run time --------------------------------------------------------------

_lock = RLock()
"""Held while `_registered` of a system changes, so that threads at once lose nothing."""


def register(system: Any, fields: Any) -> None:
    """Add a backend to a library; see `BackendSystem.register`."""
    dispatcher = system._dispatcher
    description = parse_description(
        fields, Source(REGISTERED), functions=tuple(dispatcher.by_identifier)
    )
    name = description.name
    with _lock:
        if any(each.name == name for each in system._registered):
            raise ValueError(
                f"a backend named {name!r} was registered before; unregister({name!r}) takes it "
                "away"
            )
        known = dispatcher.loaded and dispatcher.loaded.catalog.descriptions.get(name)
        if known is not None and known.in_code:
            raise ValueError(
                f"the library itself has a backend named {name!r}; register it by another name"
            )
        system._registered = (*system._registered, description)
    _load_again(system, description)


def unregister(system: Any, name: str) -> None:
    """Take a backend away; see `BackendSystem.unregister`."""
    with _lock:
        registered = {each.name: each for each in system._registered}
        if name not in registered:
            reason = "it was not registered at run time"
            raise UnknownBackendError(name, registered, nearest(name, registered), reason)
        description = registered.pop(name)
        system._registered = (*registered.values(),)
    _load_again(system, description)


def _load_again(system: Any, description: Description) -> None:
    """Discover again what is loaded; if that raises, agree with the backends in force."""
    loader = system._dispatcher.ensure_loader()
    try:
        # A running discovery may have read the old ones. If none runs, and nothing is loaded, the
        # next call that needs backends discovers all.
        if loader.is_discovering or loader.loaded is not None:
            loader.load(again=True)
    except BaseException:  # an interrupt, or a warning that is an error
        with _lock:
            others = [each for each in system._registered if each is not description]
            found = loader.loaded and loader.loaded.catalog.descriptions.get(description.name)
            # The sources are compared, because discovery replaces a description.
            if found is not None and found.source is description.source:
                others.append(description)
            system._registered = tuple(others)
        raise
