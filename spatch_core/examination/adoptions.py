"""Functions that a library has adopted: it serves them, and does not own them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..backend_system import BackendSystem


def is_adopted(system: BackendSystem, identifier: str) -> bool:
    """Whether it is a function that the library does not own, such as one of NumPy's."""
    # A vendored copy of this package may be an earlier one, without adopted functions.
    adoptions = getattr(system._dispatcher, "adoptions", ())
    return any(each.find(identifier) is not None for each in adoptions)


def adopted_name(system: BackendSystem, function: object) -> str | None:
    """Return the identity of a function that the library does not own, whatever names it has."""
    if not callable(function) or isinstance(function, type):
        return None
    for adoption in getattr(system._dispatcher, "adoptions", ()):
        for identifier, known in adoption.functions.items():
            if known is function:
                return str(identifier)
        for namespace in adoption.namespaces:
            with suppress(TypeError):  # it cannot be hashed
                found = namespace.find(function, adoption)
                # A namespace takes any function that is passed, and knows by name those that are.
                identifier = None if found is None else found[1].identifier
                if identifier and namespace.find(identifier, adoption) is not None:
                    return str(identifier)
    return None
