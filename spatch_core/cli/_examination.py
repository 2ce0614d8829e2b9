"""The examination of a description: everything that it names is imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .._type_patterns import ABSTRACT, TypePattern
from ._examined_functions import LibraryFunctions, check_callable
from ._examined_imports import Fault, Importer, is_installed
from ._examined_types import check_pattern
from ._findings import Severity
from ._mentions import Mention, Role

if TYPE_CHECKING:
    from ..backend_system import BackendSystem
    from ._child import Journal


class Examination:
    """Examines one description.

    Parameters
    ----------
    mentions : iterable of Mention
        What it names.
    importer : Importer
        Imports, and explains failures.
    journal : Journal
        Is told what comes next.
    name : str, optional
        The backend's.
    library : str, optional
        The module of the library's system, already imported.
    system : BackendSystem, optional
        The library's, with all its functions imported.
    """

    def __init__(
        self,
        mentions: Iterable[Mention],
        importer: Importer,
        journal: Journal,
        *,
        name: str | None = None,
        library: str | None = None,
        system: BackendSystem | None = None,
    ) -> None:
        self.mentions = list(mentions)
        self.importer = importer
        self.journal = journal
        self.name = name
        self.library = library
        self.functions = LibraryFunctions(importer, system)
        self.is_needed = any(
            is_installed(each.module.partition(".")[0])
            for each in self.mentions
            if each.key.startswith("primary_types")
        )
        """Whether there can be objects of its types here."""

    def faults(self) -> Iterator[tuple[str, Fault]]:
        """Yield everything that is wrong, each with its key, once."""
        seen = set()
        # First, while as little as possible has been imported: their imports are timed.
        for each in sorted(
            self.mentions, key=lambda mention: not mention.text.startswith(ABSTRACT)
        ):
            verb = "using" if each.role in (Role.FUNCTION, Role.SHOULD_RUN) else "importing"
            what = each.text if verb == "using" else each.module
            if self.journal.begins(f"{verb} {what}", each.key, each.module):
                for fault in self._check(each):
                    if (each.key, fault) not in seen:
                        seen.add((each.key, fault))
                        yield each.key, fault

    def _check(self, mention: Mention) -> Iterator[Fault]:
        if mention.role is Role.TYPE:
            yield from check_pattern(TypePattern(mention.text), self.importer, self.library)
            return
        if mention.role is Role.LIBRARY_FUNCTION:
            fault = self.functions.check(mention.text)
        elif mention.role is Role.MODULE:
            fault = self.importer.try_module(mention.text, self.is_needed)
        else:
            found = self.importer.load(mention.text, self.is_needed)
            if isinstance(found, Fault):
                fault = found
            elif mention.role is Role.BACKEND:
                fault = self._check_backend(mention.text, found)
            else:
                default = self.functions.signature(mention.library_function)
                fault = check_callable(mention, found, default)
        if fault is not None:
            yield fault

    def _check_backend(self, identifier: str, backend: Any) -> Fault | None:
        # By name: a library may vendor this package.
        if all(each.__name__ != "BackendImplementation" for each in type(backend).__mro__):
            return Fault(
                Severity.ERROR,
                f"{identifier!r} is no BackendImplementation but of type "
                f"{type(backend).__qualname__!r}",
                "Name a BackendImplementation",
            )
        if backend.name != self.name:
            return Fault(
                Severity.ERROR,
                f"{identifier!r} calls itself {backend.name!r}, the description {self.name!r}",
                "Give both the same name",
            )
        return None
