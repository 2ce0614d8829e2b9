"""Adopted functions: a library dispatches them, and another package defines them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..backend_system import BackendSystem


def is_adopted(system: BackendSystem, identifier: str) -> bool:
    """Whether the library has adopted this function, such as one of NumPy's."""
    return any(each.find(identifier) is not None for each in system._dispatcher.adoptions)


def adopted_name(system: BackendSystem, function: object) -> str | None:
    """Return the identity of an adopted function, which may have several names."""
    if not callable(function) or isinstance(function, type):
        return None
    for adoption in system._dispatcher.adoptions:
        for identifier, known in adoption.functions.items():
            if known is function:
                return str(identifier)
        for namespace in adoption.namespaces:
            with suppress(TypeError):  # the function cannot be hashed
                found = namespace.find(function, adoption)
                # A namespace accepts any function; only those of its package have a name in it.
                identifier = None if found is None else found[1].identifier
                if identifier and namespace.find(identifier, adoption) is not None:
                    return str(identifier)
    return None
