"""Discovery: entry points and descriptions in code come in; a `Catalog` of backends goes out.

Faults of a backend become problems of the catalog, and never exceptions of a call. Where code of a
backend runs, any exception is a fault but `KeyboardInterrupt`, which is the user's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from ._description import EVERY, Description, Implementation, find_file, parse_toml
from ._environment import (
    BACKEND,
    BLOCK,
    SET_ORDER,
    Environment,
    RequirementError,
    entry_point_target,
    near_misses,
    why_unmet,
)
from ._errors import Finding, Source, in_words, nearest
from ._order import Order, base_order, order_backends
from ._parsing import parse_description
from ._patterns import (
    DEFAULT,
    import_identifier,
    is_backend_name,
    is_dotted_name,
    is_initializing,
    shown,
)
from .exceptions import (
    BackendSkippedWarning,
    DescriptionError,
    EnvironmentVariableWarning,
    SpatchCoreWarning,
    UnknownBackendError,
)

CYCLE = "the declared priorities form a cycle"
REQUIRES = "requires"
"""The key of problems with unmet requirements: the backend is inactive, but not faulty."""


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
            if each.backend is None:
                yield (
                    BackendSkippedWarning([each])
                    if each.key is None
                    else (EnvironmentVariableWarning(each))
                )


# --- How it is built ------------------------------------------------------------------------------


class StillImportingError(Exception):
    """A backend needs a module that is being imported: not a fault; all are read later."""


def build_catalog(
    library: Description,
    in_code: Iterable[Any],
    entry_points: Iterable[Any],
    registered: Iterable[Description],
    environment: Environment,
    functions: Collection[str],
    default_name: str = DEFAULT,
    problems: Iterable[Finding] = (),
) -> Catalog:
    """Read the descriptions of all backends and order them.

    `library` has the types of the library's own implementations, `in_code` its own backends, and
    `functions` the identifiers of its functions. `problems` came up when the entry points were
    looked for. Raises `StillImportingError`.
    """
    reader = _Reader(environment)
    offers: dict[str | None, list[_Offer]] = {}
    for fields in in_code:
        read = partial(parse_description, fields, Source(), None, True, functions)
        offers.setdefault(name_of(fields), []).append(_Offer(Source(), read))
    installed: dict[str, list[_Offer]] = {}
    for each in entry_points:
        source = source_of(each)
        read = partial(read_installed, each, source, functions, environment.variable(BLOCK))
        installed.setdefault(each.name, []).append(_Offer(source, read))
    for description in registered:  # in the place of an installed one; read already
        installed[description.name] = [_Offer(description.source, description._replace)]
    for name in sorted(installed):
        others = installed[name]
        # Sorting reads the metadata of the distributions, so it is done only for several.
        if len(others) > 1:
            others.sort(key=lambda each: (each.source.distribution or "", each.source.entry_point))
        offers.setdefault(name, []).extend(others)
    for key, same in offers.items():
        reader.add(key, same)

    found = reader.descriptions
    if default_name in found:
        source = found.pop(default_name).source
        message = f"{default_name!r} is the library's own name"
        reader.report(message, "Rename the backend", default_name, "name", source)
    found[DEFAULT] = library
    variable = environment.variable(SET_ORDER)
    order = order_backends([*found.values()], environment.set_order, variable)
    for cycle in order.cycles:
        for name in cycle.members:
            reader.report(
                f"{CYCLE}: {cycle.in_words(default_name)}",
                f"Set {variable}={cycle.set_order!r}; else calls that match several of these "
                "backends skip them",
                name,
                source=found[name].source,
                skips=False,
                warns=name == cycle.members[0],  # once for all of them
            )
    own = default_name, environment.variable(BACKEND)
    mentioned = [each for each in environment.names if each != own]
    names = {DEFAULT, *filter(None, offers)}
    return Catalog(
        environment,
        {name: found[name] for name in order.names},
        order,
        tuple(base_order([*found.values()])),
        (*problems, *reader.problems, *environment.problems, *near_misses(mentioned, names)),
        reader.blocked,
        default_name,
    )


class _Offer(NamedTuple):
    """A description that can be read, and where it comes from."""

    source: Source
    read: Callable[[], Description]


class _Reader:
    """Reads the backends of a library, and collects their problems.

    Several may have one name: the library's own, in their order, then installed ones, by name of
    the distribution and ``"name = value"``. The first usable one is used, and one problem names
    all of them. Those after it are not read. A backend with unmet requirements is used only if it
    is the library's own or no other is usable.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.problems: list[Finding] = []
        self.descriptions: dict[str, Description] = {}
        self.blocked: dict[str, Source] = {}

    def report(
        self,
        message: str,
        remedy: str,
        name: str,
        key: str | None = None,
        source: Source | None = None,
        skips: bool = True,
        warns: bool = True,
    ) -> None:
        """Add a problem of a backend."""
        self.problems.append(Finding(message, remedy, name, key, source, skips, warns))

    def add(self, name: str | None, offers: list[_Offer]) -> None:
        """Read the backends of one name, None if they have none, until one is usable."""
        if name is not None and self.environment.blocks(name):
            self.blocked[name] = offers[0].source
            return
        used: Description | None = None
        for offer in offers:
            try:
                description = self._adapted(offer.read())
            except DescriptionError as error:
                self.problems += error.problems
                continue
            if used is None or not description.unmet:
                used = description
            if used.in_code or not used.unmet:
                break
        if used is None:
            return
        self.descriptions[used.name] = used
        if len(offers) > 1:
            self.report(
                f"this name is offered by {' and by '.join(_place(each.source) for each in offers)}"
                f"; the backend of {used.source.distribution or 'the library itself'} is used",
                "Uninstall or rename the others",
                used.name,
                source=used.source,
                skips=False,
            )

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
        return description._replace(unmet=reason) if reason else description


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


def choose_variants(description: Description) -> tuple[Description, list[Finding]]:
    """Put the first variant whose requirement is met in the place of each implementation.

    A function with neither such a variant nor a plain implementation is absent. The problems are
    malformed requirements, which count as unmet.
    """
    problems: list[Finding] = []
    why = cache(partial(why_unmet, is_condition=True))  # many functions have the same requirements
    functions: dict[str, Implementation] = {}
    absent = {}
    every = {} if description.every is None else {EVERY: description.every}
    for identifier, implementation in {**description.functions, **every}.items():
        reasons = []
        for position, variant in enumerate(implementation.variants):
            try:
                reason = why(variant.requires)
            except RequirementError as error:
                reason = str(error)
                message = f"the variant is not used, because of its requirement: {reason}"
                remedy = "Install packaging, or correct the requirement"
                key = f'functions."{identifier}".variants[{position}].requires'
                place = description.name, key, description.source
                problems.append(Finding(message, remedy, *place))
            if not reason:
                functions[identifier] = implementation._replace(
                    function=variant.function, variant=variant
                )
                break
            reasons.append(reason)
        else:
            if implementation.function:
                functions[identifier] = implementation
            else:
                absent[identifier] = "; ".join(dict.fromkeys(reasons))
    chosen = description._replace(
        every=functions.pop(EVERY, None),
        functions=MappingProxyType(functions),
        absent=MappingProxyType(absent),
    )
    return chosen, problems


# --- How one backend is read ----------------------------------------------------------------------


def source_of(entry_point: Any) -> Source:
    """Return where the backend of an entry point comes from."""
    return Source(f"{entry_point.name} = {entry_point.value}", metadata=entry_point.dist)


def read_installed(
    entry_point: Any, source: Source, functions: Collection[str], block: str
) -> Description:
    """Read the backend of an entry point; `block` is the variable that blocks backends."""
    name = entry_point.name
    module, attribute, is_file = entry_point_target(entry_point)
    if is_file:
        fields, source = _read_file(name, module, attribute, source)
    else:
        fields = _import_object(name, module, attribute, source, block)
    return parse_description(fields, source, name, functions=functions)


def _fault(message: str, remedy: str, name: str, source: Source) -> DescriptionError:
    return DescriptionError([Finding(message, remedy, name, source=source, skips=True)])


def _read_file(name: str, module: str, file: str, source: Source) -> tuple[Any, Source]:
    """Return the fields of a file in a package, and the source with the file's path."""
    if not is_dotted_name(module) or not is_backend_name(file):
        message = f"'{module}:{file}' does not name a file inside a package"
        remedy = "Write the entry point as 'package.module:file.toml'"
        raise _fault(message, remedy, name, source)
    try:
        path, content = find_file(module, file)
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
        message = f"TOML files cannot be read here: {error}"
        remedy = "Install tomli, or use Python 3.11 or later"
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, nested too deeply
        message, remedy = f"it is not valid TOML: {error}", "Correct the file"
    raise _fault(message, remedy, name, source)


def _import_object(name: str, module: str, qualname: str, source: Source, block: str) -> object:
    """Import the object of an entry point."""
    if module.endswith(".toml"):
        package, _, stem = module.removesuffix(".toml").rpartition(".")
        message = f"the entry point {module!r} does not name a file in a package"
        raise _fault(message, f"Write '{package or 'package'}:{stem}.toml'", name, source)
    if is_initializing(sys.modules.get(module)):
        raise StillImportingError
    try:
        if qualname:
            return import_identifier(f"{module}:{qualname}")
        from importlib import import_module

        return import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever a backend's module raises
        if _is_circular(error):
            raise StillImportingError from None
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
