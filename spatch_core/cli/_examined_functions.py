"""What can be wrong with the functions of a description."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .._identifiers import loaded_object, nearest, split_identifier
from ._examined_imports import Fault, Importer, attributes_like, did_you_mean, is_installed
from ._findings import Severity
from ._signatures import find_signature, mismatches

if TYPE_CHECKING:
    from inspect import Signature

    from .._description import Description, Implementation
    from ..backend_system import BackendSystem


class ExaminedFunctions:
    """Imports what a backend implements functions with, and compares.

    Parameters
    ----------
    system : BackendSystem
        The library's, with all its functions imported.
    description : Description
        Of the backend.
    importer : Importer
        Explains failures.
    begins : callable
        Takes a key, a module and what is about to be done with it; returns whether it may.
    """

    def __init__(
        self,
        system: BackendSystem,
        description: Description,
        importer: Importer,
        begins: Callable[[str, str, str], bool],
    ) -> None:
        self.system = system
        self.description = description
        self.importer = importer
        self.begins = begins
        self.failures: dict[str, Fault | None] = {}
        self.things: dict[str, Any] = {}

    def faults(self) -> Iterator[tuple[str, Fault]]:
        """Yield everything that is wrong, each with its key."""
        for identifier, implementation in self.description.functions.items():
            yield from self._check(identifier, implementation)

    def _check(
        self, identifier: str, implementation: Implementation
    ) -> Iterator[tuple[str, Fault]]:
        function = self.system.functions.get(identifier)
        if function is None:
            fault = self._missing(identifier)
            if fault is not None:
                yield f'functions."{identifier}"', fault
            function = self.system.functions.get(identifier)
        default = None if function is None else find_signature(function.__wrapped__)
        context = implementation.uses_context
        for part, named, with_context in (
            (".function", implementation.function, context),
            (".should_run", implementation.should_run, True),
        ):
            key = f'functions."{identifier}"{part}'
            if named is None or not self.begins(key, split_identifier(named)[0], f"using {named}"):
                continue
            fault = self._load(named)
            if fault is None:
                fault = _check_callable(named, self.things[named], default, with_context, part)
            if fault is not None:
                yield key, fault

    def _missing(self, identifier: str) -> Fault | None:
        """Return what is wrong with the name of a function that the library does not have."""
        module, qualname = split_identifier(identifier)
        if not self.begins(f'functions."{identifier}"', module, f"importing {module}"):
            return None
        if is_installed(module.partition(".")[0]):
            try:
                import_module(module)
            except BaseException as error:  # noqa: BLE001  # a third party's import
                fault = self.importer.explain(module, error, is_needed=False)
                if fault.severity is Severity.NOTE:
                    return fault
        functions = self.system.functions
        if identifier in functions:
            return None
        named = loaded_object(module, qualname)
        meant = [name for name, each in functions.items() if each is named]
        meant = meant or nearest(identifier, functions)
        # A later or earlier version of the library may have what nothing here resembles.
        return Fault(
            Severity.ERROR if meant else Severity.WARNING,
            f"the library has no function {identifier!r}",
            did_you_mean(
                meant, "Remove it, or say which versions of the library the backend requires"
            ),
        )

    def _load(self, identifier: str) -> Fault | None:
        """Import what an identifier names; return why that fails, the same each time."""
        if identifier not in self.failures:
            self.failures[identifier] = self._find(identifier)
        return self.failures[identifier]

    def _find(self, identifier: str) -> Fault | None:
        module, qualname = split_identifier(identifier)
        try:
            found: Any = import_module(module)
        except BaseException as error:  # noqa: BLE001  # a third party's import
            return self.importer.explain(module, error, self._is_needed())
        for part in qualname.split("."):
            outer = found
            try:
                found = getattr(outer, part)
            except BaseException as error:  # noqa: BLE001  # a third party's attribute hook
                meant = attributes_like(outer, part)
                why = "" if isinstance(error, AttributeError) else f" ({error})"
                return Fault(
                    Severity.ERROR,
                    f"{module!r} has no {qualname!r}{why}",
                    did_you_mean(meant, "Correct the name, or write the function"),
                )
        self.things[identifier] = found
        return None

    def _is_needed(self) -> bool:
        """Whether there can be objects of its types here."""
        return any(
            is_installed(pattern.module.partition(".")[0])
            for pattern in self.description.primary_types
        )


def _check_callable(
    identifier: str, thing: Any, default: Signature | None, context: bool, part: str
) -> Fault | None:
    if not callable(thing):
        return Fault(
            Severity.ERROR,
            f"{identifier!r} is no function but of type {type(thing).__qualname__!r}",
            "Name a function",
        )
    signature = find_signature(thing)
    if signature is None or default is None:
        return None
    faults = mismatches(default, signature, context)
    if not faults:
        return None
    if part == ".function" and not mismatches(default, signature, not context):
        remedy = f"Write uses_context = {'false' if context else 'true'}"
    elif context:
        remedy = "Take the context, and then what the library's function takes"
    else:
        remedy = "Take what the library's function takes"
    return Fault(
        Severity.ERROR,
        f"{identifier}{signature} cannot take all calls of the library's function {default}: "
        f"{'; '.join(faults)}",
        remedy,
    )
