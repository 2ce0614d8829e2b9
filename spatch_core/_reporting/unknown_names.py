"""Errors for unknown backends, functions and types.

Users find them in `spatch_core.exceptions`; pickles name that module.
"""

from __future__ import annotations

from .errors import SpatchCoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PUBLIC = SpatchCoreError.__module__


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

    __module__ = _PUBLIC

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
    """The library has no dispatchable function with this identifier.

    Attributes
    ----------
    identifier : str
        The identifier given.
    nearest : tuple of str
        Identifiers of functions of the library that resemble it.
    """

    __module__ = _PUBLIC

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

    __module__ = _PUBLIC

    def __init__(self, type: object, known: Iterable[str]) -> None:
        self.type = type
        self.known = tuple(known)
        super().__init__(type, self.known)

    def __str__(self) -> str:
        return (
            f"{self.type!r} is not a primary type of any backend; "
            f"primary types are: {', '.join(self.known) or 'none'}"
        )


def _either(names: Sequence[str]) -> str:
    return " or ".join(repr(name) for name in names)
