"""Errors and warnings. Each carries its data; its text is made from the data."""

from __future__ import annotations

from ._errors import either, in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ._description import Finding

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

# Errors


class _WithData:
    """Base of errors and warnings: copies and pickles have the same data."""

    args: tuple[Any, ...]

    def __reduce__(self) -> Any:
        # Past the constructor: `args` lack what it was given by keyword.
        return _with_args, (type(self), *self.args), self.__dict__


def _with_args(cls: Any, *args: object) -> Any:
    return cls.__new__(cls, *args)


class SpatchCoreError(_WithData, Exception):
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
        self.text = text
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.text!r} is not {self.expected}"


class DescriptionError(SpatchCoreError, ValueError):
    """A backend's description has faults.

    Attributes
    ----------
    problems : tuple of Finding
        All faults, not only the first.
    """

    def __init__(self, problems: Iterable[Finding]) -> None:
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


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
        self.backend = backend
        self.function = function
        self.identifier = identifier
        self.block = block

    def __str__(self) -> str:
        # Messages of the dynamic linker have several lines.
        cause = f" ({' '.join(in_words(self.__cause__).split())})" if self.__cause__ else ""
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

    def __init__(self, backend: str, function: str, reason: str) -> None:
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

    def __str__(self) -> str:
        nothing = "no backend is installed"  # said once
        runs = f"no backend runs it{' or converts' if self.policy == 'convert' else ''}"
        why = self.reason or (
            f"{runs if self.backends else nothing}, and fallback={self.policy!r} keeps the "
            f"library's own implementation from running for {', '.join(self.foreign)}"
        )
        lines = [f"{self.function} cannot be called with {', '.join(self.types)}: {why}"]
        lines += [f"  {each}" for each in self.backends]
        if self.reason and not self.backends:
            lines.append(f"  {nothing}")
        lines += [f"What would help: {each}" for each in self.remedies]
        return "\n".join(lines)


class UnknownBackendError(SpatchCoreError, ValueError):
    """No usable backend has this name.

    Attributes
    ----------
    name : str
        The name given.
    nearest : tuple of str
        Names of usable backends that resemble it.
    reason : str
        Why an installed backend of this name cannot be used; else empty.
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

    def __str__(self) -> str:
        if self.reason:
            return f"backend {self.name!r} cannot be used: {self.reason}"
        text = f"no backend is named {self.name!r}"
        if self.nearest:
            return f"{text}; did you mean {either(self.nearest)}?"
        return (
            f"{text}; installed: {', '.join(self.known)}. If it was installed since then, call "
            "backend_opts.reload(); else `spatch-core doctor` says why it is not found"
        )


class UnknownFunctionError(SpatchCoreError, KeyError):
    """The library has no dispatchable function with this identifier.

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

    def __str__(self) -> str:
        text = f"the library has no dispatchable function {self.identifier!r}"
        if self.nearest:
            return f"{text}; did you mean {either(self.nearest)}?"
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

    def __str__(self) -> str:
        return (
            f"{self.type!r} is not a primary type of any backend; "
            f"primary types are: {', '.join(self.known) or 'none'}"
        )


# Warnings


class SpatchCoreWarning(_WithData, UserWarning):
    """Base class of every warning that this package issues."""


class BackendSkippedWarning(SpatchCoreWarning):
    """A backend, or part of it, is not used.

    Attributes
    ----------
    problems : tuple of Finding
        Every fault of this backend.
    """

    def __init__(self, problems: Sequence[Finding]) -> None:
        self.problems = tuple(problems)

    def __str__(self) -> str:
        text = str(self.problems[0])
        more = len(self.problems) - 1
        if more:
            text += f" ({more} more fault{'s' * (more > 1)}: see the library's system.problems)"
        return text


class EnvironmentVariableWarning(SpatchCoreWarning):
    """An environment variable is malformed, or a name in it looks like a misspelling.

    Attributes
    ----------
    problem : Finding
        The fault; its ``key`` is the name of the variable.
    """

    def __init__(self, problem: Finding) -> None:
        self.problem = problem

    def __str__(self) -> str:
        return str(self.problem)


class DuplicateFunctionWarning(SpatchCoreWarning):
    """Two functions of a library have the same identifier; the later one replaces the earlier.

    Attributes
    ----------
    identifier : str
        The identifier of both.
    earlier, later : str
        Where they are defined, as ``"file:line"`` if known.
    """

    def __init__(self, identifier: str, earlier: str, later: str) -> None:
        self.identifier = identifier
        self.earlier = earlier
        self.later = later

    def __str__(self) -> str:
        if self.earlier == self.later:
            return (
                f"a function is dispatchable as {self.identifier!r} twice ({self.later}), and "
                "backends reach only the later one. Decorate it once, or give each one another "
                "identifier, with dispatchable(identifier=...)"
            )
        return (
            f"two functions are dispatchable as {self.identifier!r}, and backends reach only the "
            f"later one: {self.earlier} and {self.later}. Give one of them another identifier, "
            "with dispatchable(identifier=...)"
        )


class GlobalOptionsWarning(SpatchCoreWarning):
    """``enable_globally`` overrides an earlier ``enable_globally``."""


class FallbackWarning(SpatchCoreWarning):
    """The default implementation runs for foreign types, because no backend took the call.

    It has `function`, `types`, `foreign` and `backends` as `NoImplementationError` has.

    Attributes
    ----------
    size : int
        The bytes of the arguments of foreign types that have ``nbytes``.
    """

    def __init__(
        self,
        function: str,
        types: Iterable[str],
        foreign: Iterable[str],
        backends: Iterable[Any],
        size: int = 0,
    ) -> None:
        self.function = function
        self.types = tuple(types)
        self.foreign = tuple(foreign)
        self.backends = tuple(backends)
        self.size = size

    def __str__(self) -> str:
        size = f" ({self.size} bytes)" if self.size else ""
        types = "" if self.types == self.foreign else f" for {', '.join(self.types)}"
        head = (
            f"{self.function} runs the library's own implementation{types}, "
            f"which is not made for {', '.join(self.foreign)}{size}: no backend runs it"
        )
        return "\n".join([head, *(f"  {each}" for each in self.backends)])
