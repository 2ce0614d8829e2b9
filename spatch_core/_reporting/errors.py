"""Errors. Each carries its data; its text is made from the data.

Users find them in `spatch_core.exceptions`; pickles name that module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    # Not at run time: importing `dataclasses` takes longer than importing a library.
    from .problems import Problem

_PUBLIC = __name__.rpartition("._")[0] + ".exceptions"


class SpatchCoreError(Exception):
    """Base class of every error that this package defines."""

    __module__ = _PUBLIC


class IdentifierError(SpatchCoreError, ValueError):
    """A string is not an identifier, a type pattern or a backend name.

    Attributes
    ----------
    text : object
        The value given.
    expected : str
        The expected form, in words.
    """

    __module__ = _PUBLIC

    def __init__(self, text: object, expected: str) -> None:
        super().__init__(text, expected)
        self.text = text
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.text!r} is not {self.expected}"


class DescriptionError(SpatchCoreError, ValueError):
    """A backend's description has faults.

    Attributes
    ----------
    problems : tuple of Problem
        All faults, not only the first.
    """

    __module__ = _PUBLIC

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class ImplementationImportError(SpatchCoreError, ImportError):
    """Importing a backend's implementation, ``should_run`` or conversion failed.

    Attributes
    ----------
    backend : str
        The backend's name.
    function : str
        Identifier of the library's function.
    identifier : str
        Identifier of the object that could not be imported.
    block : str
        The environment variable that blocks backends.
    """

    __module__ = _PUBLIC

    def __init__(self, backend: str, function: str, identifier: str, block: str) -> None:
        super().__init__(backend, function, identifier, block)
        self.backend = backend
        self.function = function
        self.identifier = identifier
        self.block = block

    def __str__(self) -> str:
        cause = f" ({self.__cause__})" if self.__cause__ is not None else ""
        return (
            f"backend {self.backend!r} uses {self.identifier!r} for {self.function}, "
            f"which cannot be imported{cause}. Repair or uninstall the backend, "
            f"or block it by setting {self.block}={self.backend}"
        )


class BackendDeferredError(SpatchCoreError, NotImplementedError):
    """A backend that was chosen by name did not answer the call.

    Attributes
    ----------
    backend : str
        The backend's name.
    function : str
        Identifier of the library's function.
    reason : str
        Why it did not answer.
    """

    __module__ = _PUBLIC

    def __init__(self, backend: str, function: str, reason: str) -> None:
        super().__init__(backend, function, reason)
        self.backend = backend
        self.function = function
        self.reason = reason

    def __str__(self) -> str:
        return f"backend {self.backend!r} did not run {self.function}: {self.reason}"


class NoImplementationError(SpatchCoreError, TypeError):
    """A call with foreign types is refused, because no backend took it.

    Attributes
    ----------
    function : str
        Identifier of the library's function.
    types : tuple of str
        Identifiers of the dispatch types.
    foreign : tuple of str
        The foreign types among them: neither Python's own classes nor the library's.
    backends : tuple of ExplainedBackend
        Every backend that was considered, with the reason why it did not run.
    policy : str
        The fallback policy.
    remedies : tuple of str
        Options or changes with which the call would succeed.
    reason : str
        Why a conversion failed, or that all overriding types have declined; else empty.
    """

    __module__ = _PUBLIC

    def __init__(
        self,
        function: str,
        types: Iterable[str],
        foreign: Iterable[str],
        backends: Iterable[Any],
        policy: str,
        remedies: Iterable[str] = (),
        reason: str = "",
    ) -> None:
        self.function = function
        self.types = tuple(types)
        self.foreign = tuple(foreign)
        self.backends = tuple(backends)
        self.policy = policy
        self.remedies = tuple(remedies)
        self.reason = reason
        super().__init__(
            function, self.types, self.foreign, self.backends, policy, self.remedies, reason
        )

    def __str__(self) -> str:
        why = self.reason or (
            f"no backend runs it{' or converts' if self.policy == 'convert' else ''}, and "
            f"fallback={self.policy!r} keeps the library's own implementation from running for "
            f"{', '.join(self.foreign)}"
        )
        lines = [f"{self.function} cannot be called with {', '.join(self.types)}: {why}"]
        lines += [f"  {each}" for each in self.backends] or ["  no backend is installed"]
        lines += [f"What would help: {each}" for each in self.remedies]
        return "\n".join(lines)
