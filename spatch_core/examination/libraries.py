"""The registered libraries: their systems, their functions, and the classes of this process."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._environment import (
    find_entry_points,
    installed_distributions,
    read_environment,
)
from .._errors import (
    Finding,
    Published,
    Severity,
    Source,
    either,
    ended,
    in_words,
    nearest,
    replace,
)
from .._patterns import DEFAULT, import_identifier, shown
from .child import foreign_code, progress
from .importing import package_of
from .project import check_group, entry_point_advice

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

GROUP = "spatch_core.libraries"


@dataclass(frozen=True, slots=True)
class Library(Published):
    """A registered library, not yet imported.

    Parameters
    ----------
    name : str
        The name of its entry point, or of its module if it has none.
    identifier : str
        The identifier of its `BackendSystem`.
    source : Source
        Its entry point and distribution.
    owner : str or None
        Another distribution that registers the same name, and whose library is used instead.
    """

    name: str
    identifier: str
    source: Source
    owner: str | None = None

    def home(self, source: Source | None) -> Source:
        """Return the source of a backend; for one in the library's code, that of the library."""
        return self.source if source is None or source.entry_point is None else source


@dataclass(frozen=True, slots=True)
class LoadedLibrary:
    """An imported library, or the fault that kept it from being imported."""

    library: Library
    # Backends have been discovered. The class may be that of a vendored copy of this package.
    system: BackendSystem | None = None
    fault: Finding | None = None  # why there is no system
    problems: tuple[Finding, ...] = ()  # of the system, or only `fault`

    @property
    def usable(self) -> BackendSystem:
        """The system of a library without a fault."""
        assert self.system is not None
        return self.system

    def shown(self, backend: str) -> str:
        """Return the name of a backend as people see it."""
        return shown(backend, DEFAULT if self.system is None else self.system.default_name)

    def describe(self, problem: Finding) -> str:
        """Return a problem as text."""
        if problem is not self.fault:
            return str(problem)
        return (
            f"library {self.library.name!r} cannot be used ({self.library.source}): "
            f"{ended(problem.message)} {problem.remedy}"
        )


# --- Finding them ---------------------------------------------------------------------------------


def find_libraries() -> list[Library]:
    """Return the registered libraries, sorted by name; imports none of them."""
    found: list[Library] = []
    for item in find_entry_points(GROUP)[0]:
        # Entry points may have extras in brackets, which mean nothing here.
        identifier = str(item.value).partition("[")[0].strip()
        source = Source(f"{item.name} = {item.value}", metadata=item.dist)
        found.append(Library(item.name, identifier, source))
    found.sort(key=lambda each: (each.name, each.source.distribution or "", each.identifier))
    owners: dict[str, str] = {}
    for position, each in enumerate(found):
        if each.name in owners:
            owner = owners[each.name]
            found[position] = Library(each.name, each.identifier, each.source, owner)
        else:
            owners[each.name] = each.source.distribution or each.identifier
    return found


def find_library(name: str) -> Library:
    """Return the registered library of this name; raise a `LookupError` if there is none."""
    registered = find_libraries()
    for each in registered:
        if each.name == name:
            return each
    meant = nearest(name, [each.name for each in registered])
    hint = f"; did you mean {either(meant)}?" if meant else "."
    raise LookupError(
        f"no library is named {name!r}{hint} A library registers itself in the entry point "
        f"group {GROUP!r}"
    )


def is_system(found: object) -> bool:
    """Whether `found` is a `BackendSystem`, of this package or of a vendored copy."""
    return _is_kind_of_system(type(found))


def _is_kind_of_system(cls: type) -> bool:
    # By name, because a library may vendor this package.
    return any(each.__name__ == "BackendSystem" for each in type.mro(cls))


def every_class() -> Iterator[type]:
    """Yield all classes, without calling the ``__subclasses__`` of a metaclass."""
    seen: set[int] = set()
    waiting: list[type] = [object]
    while waiting:
        subclasses: list[type] = type.__subclasses__(waiting.pop())
        for each in subclasses:
            if id(each) not in seen:
                seen.add(id(each))
                waiting.append(each)
                yield each


def live_systems() -> list[Any]:
    """Return the `BackendSystem` of every imported library, wherever it keeps it."""
    classes = {id(each) for each in every_class() if _is_kind_of_system(each)}
    return [each for each in gc.get_objects() if id(type(each)) in classes]


# --- Loading them ---------------------------------------------------------------------------------


def load_library(library: Library) -> LoadedLibrary:
    """Import a library's system and let it discover its backends.

    If anything fails, the result has a fault instead of a system.
    """
    if library.owner is not None:
        message = f"distribution {library.owner} registers a library of the same name"
        remedy = "Uninstall one of the two, or rename its entry point"
        return _faulty(library, f"{message}, which is used instead", remedy)
    try:
        with foreign_code(), progress(f"loading {library.name}"):
            system: Any = import_identifier(library.identifier)
        if not is_system(system):
            return _faulty(
                library,
                f"{library.identifier!r} is not a BackendSystem but of type "
                f"{type(system).__qualname__!r}",
                "Name the library's BackendSystem in the entry point",
            )
        with foreign_code(system), progress(f"loading {library.name}"):
            # Several faults of an entry point may have the same advice.
            problems = [*dict.fromkeys(map(_with_advice, system.problems)), *_alike(system)]
        variables = read_environment(system.environ_prefix, os.environ)
        problems += [each for each in variables.problems if each not in problems]
        return LoadedLibrary(library, system, problems=tuple(problems))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a third party's import
        return _faulty(
            library,
            f"loading {library.identifier!r} failed with {in_words(error)}",
            "Repair or uninstall the distribution",
        )


def _with_advice(problem: Finding) -> Finding:
    """Return a problem of an entry point with what the entry point names, and what to write."""
    source = problem.source
    if source is None or source.file or not source.entry_point or not problem.skips:
        return problem
    advice = entry_point_advice(source.entry_point.partition("=")[2])
    if advice is None:
        return problem
    message, remedy = advice
    return replace(problem, message=message, remedy=remedy, key=None)


def _alike(system: BackendSystem) -> Iterator[Finding]:
    """Yield an error for each entry point group that resembles that of the library."""
    known = [] if system.group is None else [system.group]
    found: list[tuple[str, Finding]] = []
    for distribution in installed_distributions():
        with suppress(Exception):  # its file of entry points may be damaged
            for name in {each.group for each in distribution.entry_points}:
                source = Source(metadata=distribution)
                found += [(name, replace(e, source=source)) for e in check_group(name, known)]
    others = {str(each.group) for each in live_systems()} if found else ()
    yield from (each for name, each in found if name not in others)


def _faulty(library: Library, message: str, remedy: str) -> LoadedLibrary:
    fault = Finding(message, remedy, source=library.source, severity=Severity.ERROR)
    return LoadedLibrary(library, fault=fault, problems=(fault,))


def import_public_names(library: Library) -> None:
    """Import the modules that a library imports lazily, so that all its functions exist.

    Failures are ignored: the functions of such a module do not exist in this environment.
    """
    package: Any = sys.modules[package_of(library.identifier)]
    with foreign_code(), progress(f"importing what {library.name} offers"):
        for name in getattr(package, "__all__", None) or dir(package):
            try:
                getattr(package, name)
            except KeyboardInterrupt:
                raise
            except BaseException:  # noqa: BLE001  # a third party's import
                pass


# --- Adopted functions: a library dispatches them, and another package defines them ---------------


def is_adopted(system: BackendSystem, identifier: str) -> bool:
    """Whether the library has adopted this function, such as one of NumPy's."""
    return any(each.find(identifier) is not None for each in system._dispatcher.adoptions)


def adopted_name(system: BackendSystem, function: object) -> str | None:
    """Return the identity of an adopted function, which may have several names."""
    if not callable(function) or isinstance(function, type):
        return None
    for adoption in system._dispatcher.adoptions:
        for identifier, known in adoption.functions.items():
            if known is function:
                return str(identifier)
        for namespace in adoption.namespaces:
            with suppress(TypeError):  # the function cannot be hashed
                found = namespace.find(function, adoption)
                # A namespace accepts any function; only those of its package have a name in it.
                identifier = None if found is None else found[1].identifier
                if identifier and namespace.find(identifier, adoption) is not None:
                    return str(identifier)
    return None
