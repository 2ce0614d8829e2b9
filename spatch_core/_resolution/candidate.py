"""A backend that may answer a call, and its implementation, imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from .._description.description import Implementation
from .._dispatch_arguments import Function
from .._identifiers import import_identifier
from .._interrupts import is_interrupt
from ..exceptions import ImplementationImportError


@dataclass(frozen=True, slots=True)
class Candidate:
    """A backend that may answer a call of one function.

    Parameters
    ----------
    backend : str
        Its name.
    function : Function
        The library's function.
    implementation : Implementation or None
        None for the default implementation.
    prioritized : bool
        Whether the backend is prioritized.
    block : str
        The environment variable that blocks backends, for messages.
    reason : str
        For the default: why it runs although it does not match; else empty.
    objects : dict of str to object
        What has been imported, by identifier; all candidates of a library share it.
    """

    backend: str
    function: Function
    implementation: Implementation | None
    prioritized: bool
    block: str
    reason: str = ""
    objects: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_last_resort(self) -> bool:
        """Whether it answers only where nothing else does."""
        return self.reason != ""

    @property
    def is_plain(self) -> bool:
        """Whether the implementation is called with the call's own arguments, unasked."""
        implementation = self.implementation
        return implementation is None or not (
            implementation.should_run or implementation.uses_context
        )

    def load(self) -> Callable[..., Any]:
        """Return the implementation, imported on first use.

        Raises
        ------
        ImplementationImportError
            If it cannot be imported.
        """
        if self.implementation is None:
            return self.function.default
        return self._import(self.implementation.function)

    def load_should_run(self) -> Callable[..., Any] | None:
        """Return ``should_run``, imported on first use; None if there is none.

        Raises
        ------
        ImplementationImportError
            If it cannot be imported.
        """
        if self.implementation is None or self.implementation.should_run is None:
            return None
        return self._import(self.implementation.should_run)

    @property
    def loaded(self) -> Callable[..., Any] | None:
        """The implementation, if it has been imported."""
        if self.implementation is None:
            return self.function.default
        return self.objects.get(self.implementation.function)

    def demanded(self, is_asked: bool) -> Candidate:
        """Return the candidate that `invoke` calls: prioritized, and asked or not."""
        implementation = self.implementation
        if implementation is not None and not is_asked:
            implementation = replace(implementation, should_run=None)
        return replace(self, implementation=implementation, prioritized=True)

    def _import(self, identifier: str) -> Callable[..., Any]:
        loaded: Callable[..., Any] | None = self.objects.get(identifier)
        if loaded is None:
            # Without a lock: two threads may both import it, and find the same object.
            try:
                found = import_identifier(identifier)
                if not callable(found):
                    raise ImportError(f"{identifier!r} is not callable: {found!r}")
            except (Exception, SystemExit) as error:
                if is_interrupt(error):
                    raise
                raise ImplementationImportError(
                    self.backend, self.function.identifier, identifier, self.block
                ) from error
            loaded = self.objects[identifier] = found
        return loaded
