"""A backend that may answer a call, and its implementation, imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .._description import Conversions, GivenCallable, Implementation
from .._dispatch_arguments import Function
from .._errors import ImplementationImportError, replace
from .._patterns import import_identifier, loaded_object, split_identifier

IS_CURRENT = "it is the current backend, and the types say nothing"
"""The reason of the current backend in calls whose types say nothing."""


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
        Why it is a candidate if its types alone do not make it one: `LAST_RESORT`, `CONVERSION`
        or `IS_CURRENT`; else empty.
    objects : dict of str to object
        The objects that have been imported, by identifier; all candidates of a library share it.
    notify : callable or None
        Called before the implementation runs, with the function's identifier and the backend.
    conversions : Conversions or None
        The conversions of the backend, if the candidate runs the default implementation with
        converted arguments.
    """

    backend: str
    function: Function
    implementation: Implementation | None
    prioritized: bool
    block: str
    reason: str = ""
    objects: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    notify: Callable[[str, str], None] | None = field(default=None, compare=False, repr=False)
    conversions: Conversions | None = None

    @property
    def is_last_resort(self) -> bool:
        """Whether it answers only where nothing else does."""
        return self.reason not in ("", IS_CURRENT)

    @property
    def propagates(self) -> bool:
        """Whether all its exceptions propagate, so that none of them means that it defers."""
        return self.implementation is None and self.conversions is None

    @property
    def is_plain(self) -> bool:
        """Whether it runs without ``should_run``, with exactly the arguments of the call."""
        implementation = self.implementation
        if implementation is None:
            return self.conversions is None
        return not (implementation.should_run or implementation.uses_context)

    def load(self) -> Callable[..., Any]:
        """Return the implementation, imported on first use.

        Raises
        ------
        ImplementationImportError
            If it cannot be imported.
        """
        if self.implementation is None:
            return self.function.default
        found = self._import(self.implementation.function)
        if self.notify is not None:
            self.notify(self.function.identifier, self.backend)
        return found

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

    def load_conversions(self) -> tuple[Callable[..., Any], Callable[..., Any], Any]:
        """Return ``to_default``, ``from_default`` and ``copy_into``, imported on first use.

        Raises
        ------
        ImplementationImportError
            If one cannot be imported.
        """
        assert self.conversions is not None
        there, back, copy = self.conversions
        return self._import(there), self._import(back), None if copy is None else self._import(copy)

    @property
    def loaded(self) -> Callable[..., Any] | None:
        """The implementation, if it has been imported."""
        if self.implementation is None:
            return self.function.default
        function = self.implementation.function
        return function.given if isinstance(function, GivenCallable) else self.objects.get(function)

    def is_implemented_by(self, called: object) -> bool:
        """Whether the implementation is `called`; imports nothing.

        Functions are compared, because a call that began before `reload` may have used an earlier
        candidate with the same implementation.
        """
        loaded: object = self.loaded
        if loaded is None and self.implementation is not None:
            loaded = loaded_object(*split_identifier(self.implementation.function), hooks=False)
        return loaded is called

    def invoked(self, is_asked: bool) -> Candidate:
        """Return this candidate for `invoke`: prioritized, ``should_run`` only if `is_asked`."""
        implementation = self.implementation
        if implementation is not None and not is_asked:
            implementation = replace(implementation, should_run=None)
        return replace(self, implementation=implementation, prioritized=True)

    def _import(self, identifier: str) -> Callable[..., Any]:
        if isinstance(identifier, GivenCallable):
            return identifier.given
        loaded: Callable[..., Any] | None = self.objects.get(identifier)
        if loaded is None:
            # No lock is needed: if two threads import it, both get the same object.
            try:
                found = import_identifier(identifier)
                if not callable(found):
                    raise ImportError(f"{identifier!r} is not callable: {found!r}")
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raise ImplementationImportError(
                    self.backend, self.function.identifier, identifier, self.block
                ) from error
            loaded = self.objects[identifier] = found
        return loaded
