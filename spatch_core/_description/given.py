"""Callables that stand in descriptions in code, in place of their identifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class GivenCallable(str):
    """The identifier of a callable that a description gives itself; it is never imported.

    Two are equal if their callables are the same object: all lambdas of a module have one
    identifier.

    Attributes
    ----------
    given : callable
        The callable, which need not be importable.
    """

    __slots__ = ("given",)

    given: Callable[..., Any]

    def __eq__(self, other: object) -> bool:
        if type(other) is GivenCallable:
            return self.given is other.given
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> Any:
        return str, (str(self),)


def identify(given: Callable[..., Any]) -> GivenCallable:
    """Return the identifier of a callable, made from its name or that of its class."""
    named = given if hasattr(given, "__qualname__") else type(given)
    # A ufunc of NumPy's has no `__module__`.
    module = getattr(given, "__module__", None) or "?"
    identifier = GivenCallable(f"{module}:{named.__qualname__}")
    identifier.given = given
    return identifier
