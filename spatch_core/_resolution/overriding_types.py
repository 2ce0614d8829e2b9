"""Overriding types: classes with the method of a library's own protocol.

The protocol is that of NumPy's ``__array_function__`` and of PyTorch's ``__torch_function__``: a
class with the method takes the calls of the library's functions that it is an argument of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from .._patterns import bases_of, defined, dict_of, is_derived, type_identifier


class GenericMethod(classmethod):  # type: ignore[type-arg]  # no subscript at run time
    """The method of a library's mixin, see `protocols.library`.

    A direct subclass of the mixin is the library's own base class. It does not override: calls
    with it alone cost no more than without a protocol. For other classes, the table holds a
    function that does the same as the method, which is not called.

    Attributes
    ----------
    preserver : callable
        Takes a class; returns a function of a result and the arguments of the call, which returns
        the result as an instance of the class.
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
            # Before the first of its superclasses, else last, as NEP 18 says.
            place = len(found)
            for position, other in enumerate(found):
                if is_derived(cls, other):
                    place = position
                    break
            found.insert(place, cls)
    return tuple(found)


def overrides(cls: type, protocol: str) -> bool:
    """Whether a class has the method of a protocol; a class may disable it by None.

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
