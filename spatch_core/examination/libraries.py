"""Finds registered libraries and loads their systems."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._environment import entry_point_target, find_entry_points, read_environment
from .._errors import Finding, Published, Severity, Source, in_words, nearest
from .._patterns import DEFAULT, import_identifier, shown
from .blocking import blocking
from .foreign_code import foreign_code
from .isolation import (
    imported_apart,
    try_descriptions,
    unblocked_objects,
    unchanged_process,
)
from .packages import package_of
from .progress import progress

if TYPE_CHECKING:
    from ..backend_system import BackendSystem

GROUP = "spatch_core.libraries"
_MAIN = ("__main__", "__mp_main__")
"""Names of a program's main module; the second is that of multiprocessing's children."""


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

    def shadowed(self) -> tuple[str, str]:
        """Return message and remedy for a library whose name is taken."""
        message = f"distribution {self.owner} registers a library of the same name"
        remedy = "Uninstall one of the two, or rename its entry point"
        return f"{message}, which is used instead", remedy

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
    problems: tuple[Finding, ...] = field(default=())  # of the system, or only `fault`

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
            f"{problem.message}. {problem.remedy}"
        )


def find_libraries(registered: Iterable[Any] | None = None) -> list[Library]:
    """Return the registered libraries, sorted by name; imports none of them."""
    found: list[Library] = []
    owners: dict[str, str] = {}
    for item in find_entry_points(GROUP)[0] if registered is None else registered:
        # Entry points may have extras in brackets, which mean nothing here.
        identifier = str(item.value).partition("[")[0].strip()
        source = Source(f"{item.name} = {item.value}", metadata=item.dist)
        found.append(Library(item.name, identifier, source))
    found.sort(key=lambda each: (each.name, each.source.distribution or "", each.identifier))
    for position, each in enumerate(found):
        owner = owners.setdefault(each.name, each.source.distribution or each.identifier)
        if position and found[position - 1].name == each.name:
            found[position] = Library(each.name, each.identifier, each.source, owner)
    return found


def find_library(library: str | BackendSystem) -> Library:
    """Return the library with this name or this system.

    Raises
    ------
    LookupError
        If no library of this name is registered, or no importable module has the system.
    TypeError
        If it is neither a name nor a system.
    """
    if isinstance(library, str):
        for each in find_libraries():
            if each.name == library:
                return each
        registered = [each.name for each in find_libraries()]
        meant = nearest(library, registered)
        hint = f"; did you mean {' or '.join(map(repr, meant))}?" if meant else "."
        raise LookupError(
            f"no library is named {library!r}{hint} A library registers itself in the entry point "
            "group 'spatch_core.libraries'; for others, give the BackendSystem"
        )
    if not is_system(library):
        raise TypeError(f"a library is given by its name or its BackendSystem, not {library!r}")
    found = [
        f"{module}:{name}"
        for module, imported in [*sys.modules.items()]
        if issubclass(type(imported), ModuleType)
        # Through the dictionary: getattr would import lazy modules.
        for name, value in [*object.__getattribute__(imported, "__dict__").items()]
        if value is library
    ]
    for each in find_libraries():
        if each.identifier in found:
            return each
    importable = [each for each in found if each.partition(":")[0] not in _MAIN]
    if importable:
        return Library(importable[0].partition(":")[0], importable[0], Source())
    if found:
        raise LookupError(
            "this system is an attribute of the module __main__, which child processes cannot "
            "import; define it in a module that can be imported"
        )
    raise LookupError("no imported module has this system as an attribute")


def load_library(library: Library, *, tries: bool = True) -> LoadedLibrary:
    """Import a library's system and let it discover its backends.

    With `tries`, a child process first reads the descriptions that are objects, because that may
    end the process. If anything fails, the result has a fault instead of a system.
    """
    if library.owner is not None:
        return _faulty(library, *library.shadowed())
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
        with blocking(system):
            ended = try_descriptions(system, library.name) if tries else None
            if ended is not None:
                return _faulty(library, *ended)
            modules = [entry_point_target(each)[0] for each in unblocked_objects(system)]
            with (
                foreign_code(system),
                progress(f"loading {library.name}"),
                imported_apart(modules),
                unchanged_process(),
            ):
                problems = list(system.problems)
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


def _faulty(library: Library, message: str, remedy: str) -> LoadedLibrary:
    fault = Finding(message, remedy, source=library.source, severity=Severity.ERROR)
    return LoadedLibrary(library, fault=fault, problems=(fault,))


def is_system(found: object) -> bool:
    """Whether `found` is a `BackendSystem`, of this package or of a vendored copy."""
    return any(
        each.__name__ == "BackendSystem" and hasattr(each, "explain_types")
        for each in type(found).__mro__
    )
