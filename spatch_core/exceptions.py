"""Errors and warnings. Each carries its data; its text is made from the data."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    # Not at run time: its dataclasses take longer to import than a library does.
    from typing import Any

    from ._problems import Problem
    from ._warning_categories import (
        BackendSkippedWarning,
        DuplicateFunctionWarning,
        EnvironmentVariableWarning,
        FallbackWarning,
        GlobalOptionsWarning,
        SpatchCoreWarning,
    )

__all__ = [
    "BackendDeferredError",
    "BackendSkippedWarning",
    "DescriptionError",
    "DuplicateFunctionWarning",
    "EnvironmentVariableWarning",
    "FallbackWarning",
    "GlobalOptionsWarning",
    "IdentifierError",
    "ImplementationImportError",
    "NoImplementationError",
    "SpatchCoreError",
    "SpatchCoreWarning",
    "UnknownBackendError",
    "UnknownFunctionError",
    "UnknownTypeError",
]


class SpatchCoreError(Exception):
    """Base class of every error that this package defines."""


class IdentifierError(SpatchCoreError, ValueError):
    """A string is not an identifier, a type pattern or a backend name.

    Attributes
    ----------
    text : object
        The value given.
    expected : str
        The expected form, in words.
    """

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

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class UnknownBackendError(SpatchCoreError, ValueError):
    """No usable backend has this name.

    Attributes
    ----------
    name : str
        The name given.
    nearest : tuple of str
        Names of usable backends that resemble it.
    reason : str
        Why it cannot be used, if it is installed; else empty.
    known : tuple of str
        The names of all usable backends.
    """

    def __init__(
        self, name: object, known: Iterable[str], nearest: Iterable[str] = (), reason: str = ""
    ) -> None:
        self.name = name
        self.known = tuple(known)
        self.nearest = tuple(nearest)
        self.reason = reason
        super().__init__(name, self.known, self.nearest, reason)

    def __str__(self) -> str:
        if self.reason:
            return f"backend {self.name!r} cannot be used: {self.reason}"
        text = f"no backend is named {self.name!r}"
        if self.nearest:
            return f"{text}; did you mean {_either(self.nearest)}?"
        return f"{text}; installed: {', '.join(self.known)}"


class UnknownFunctionError(SpatchCoreError, KeyError):
    """The library has no dispatchable function of this identifier.

    Attributes
    ----------
    identifier : str
        The identifier given.
    nearest : tuple of str
        Identifiers of functions of the library that resemble it.
    """

    def __init__(self, identifier: object, nearest: Iterable[str] = ()) -> None:
        self.identifier = identifier
        self.nearest = tuple(nearest)
        super().__init__(identifier, self.nearest)

    def __str__(self) -> str:
        text = f"the library has no dispatchable function {self.identifier!r}"
        if self.nearest:
            return f"{text}; did you mean {_either(self.nearest)}?"
        return (
            f"{text}; give the identifier of one of its functions, 'module:qualname' "
            "(system.functions has them), whose module is imported"
        )


class UnknownTypeError(SpatchCoreError, ValueError):
    """A type is not a primary type of any backend.

    Attributes
    ----------
    type : type
        The type given.
    known : tuple of str
        The primary types of all backends.
    """

    def __init__(self, type: object, known: Iterable[str]) -> None:
        self.type = type
        self.known = tuple(known)
        super().__init__(type, self.known)

    def __str__(self) -> str:
        return (
            f"{self.type!r} is not a primary type of any backend; "
            f"primary types are: {', '.join(self.known) or 'none'}"
        )


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

    def __reduce__(self) -> tuple[type, tuple[str, str, str, str]]:
        # ImportError's own reduction keeps a dict that hides the arguments from subclasses.
        return type(self), (self.backend, self.function, self.identifier, self.block)


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

    def __init__(self, backend: str, function: str, reason: str) -> None:
        super().__init__(backend, function, reason)
        self.backend = backend
        self.function = function
        self.reason = reason

    def __str__(self) -> str:
        return f"backend {self.backend!r} did not run {self.function}: {self.reason}"


class NoImplementationError(SpatchCoreError, TypeError):
    """No backend took a call with foreign types, and it is refused.

    Attributes
    ----------
    function : str
        Identifier of the library's function.
    types : tuple of str
        Identifiers of the dispatch types.
    foreign : tuple of str
        Those that are neither Python's own classes nor the library's.
    backends : tuple of ExplainedBackend
        Every backend that was considered, with the reason why it did not run.
    policy : str
        The fallback policy.
    remedies : tuple of str
        What would let the call be answered.
    reason : str
        Why a conversion that was under way did not succeed, or that all overriding types have
        declined; else empty.
    """

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


def _either(names: Sequence[str]) -> str:
    return " or ".join(repr(name) for name in names)


def __getattr__(name: str) -> object:
    # Imported on first use: a backend that registers its functions needs no warning.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _warning_categories

    found = globals()[name] = getattr(_warning_categories, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
