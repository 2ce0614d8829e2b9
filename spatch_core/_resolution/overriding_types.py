"""Overriding types: classes with the method of a library's own protocol.

The protocol is that of NumPy's ``__array_function__`` and of PyTorch's ``__torch_function__``: a
class with the method takes the calls of the library's functions that it is an argument of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from .._classes import bases_of, defined, dict_of, is_derived, type_identifier


class GenericMethod(classmethod):  # type: ignore[type-arg]  # no subscript at run time
    """The method of the mixin of a library, see `protocols.library`.

    A class that names the mixin among its bases is the library's own base class. It does not
    override: calls with it alone cost what they cost without a protocol. What the method does for
    other classes is decided when a table is filled, and done without calling it.

    Attributes
    ----------
    preserver : callable
        Takes a class; returns what takes a result and the arguments, and returns the result as one
        of the class.
    """

    preserver: Callable[[type], Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]]


def overriding_types(types: Iterable[type], protocol: str) -> tuple[type, ...]:
    """Return the classes that override, each before its superclasses, else from left to right.

    Parameters
    ----------
    types : iterable of type
        The dispatch types, each once.
    protocol : str
        The name of the method.

    Raises
    ------
    TypeError
        If the method of a class is no class method.
    """
    found: list[type] = []
    for cls in types:
        if overrides(cls, protocol):
            place = len(found)
            for position, other in enumerate(found):
                if is_derived(cls, other):
                    place = position
                    break
            found.insert(place, cls)
    return tuple(found)


def overrides(cls: type, protocol: str) -> bool:
    """Whether a class has the method of a protocol; None in its place means that it has not.

    Raises
    ------
    TypeError
        If the method is no class method.
    """
    method = defined(cls, protocol)
    if method is None:
        return False
    if isinstance(method, FunctionType):
        raise TypeError(
            f"{type_identifier(cls)} has a method {protocol} that is called without an instance: "
            f"write @classmethod above def {protocol}(cls, func, types, args, kwargs)"
        )
    if isinstance(method, GenericMethod):
        return not any(dict_of(base).get(protocol) is method for base in bases_of(cls))
    return True
