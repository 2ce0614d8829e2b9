"""Implementers: the backends that implement a function of the library."""

from __future__ import annotations

from collections.abc import Sequence

from .._discovery import Catalog
from .._dispatch_arguments import Function
from .._patterns import DEFAULT


class Implementers:
    """Knows the implementers of each function; the default is always one.

    Parameters
    ----------
    catalog : Catalog
        The library's backends. Those with an unmet requirement implement nothing.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._descriptions = catalog.descriptions
        self._by_name = _by_name(catalog)
        # Backends with an entry "*", and the implementers of functions if there are any such.
        self._every = [
            name for name, each in catalog.descriptions.items() if each.every and not each.unmet
        ]
        self._with_every: dict[str, list[str]] = {}
        self._sets: dict[str, frozenset[str]] = {}

    def of(self, identifier: str) -> Sequence[str]:
        """Return the names of the backends that implement a function, by priority."""
        if not self._every:
            return self._by_name.get(identifier, (DEFAULT,))
        found = self._with_every.get(identifier)
        if found is None:
            every = [name for name in self._every if not self._is_absent(name, identifier)]
            names = {DEFAULT, *every, *self._by_name.get(identifier, ())}
            # In the order of the descriptions, which is that of priority.
            found = [name for name in self._descriptions if name in names]
            self._with_every[identifier] = found
        return found

    def _is_absent(self, name: str, identifier: str) -> bool:
        """Whether the backend has variants of the function, none of which is available here."""
        return identifier in self._descriptions[name].absent

    def set_of(self, function: Function) -> frozenset[str]:
        """Return the same names as a set, which is cached."""
        names = self._sets.get(function.identifier)
        if names is None:
            names = self._sets[function.identifier] = frozenset(self.of(function.identifier))
        return names


def _by_name(catalog: Catalog) -> dict[str, list[str]]:
    """Return the backends that name each function, and the default, by priority."""
    implementers: dict[str, list[str]] = {}
    before: list[str] = []  # holds the default once the loop has passed it
    for name, description in catalog.descriptions.items():
        if name == DEFAULT:
            for names in implementers.values():
                names.append(DEFAULT)
            before = [DEFAULT]
        for identifier in () if description.unmet else description.functions:
            if identifier in implementers:
                implementers[identifier].append(name)
            else:
                implementers[identifier] = [*before, name]
    return implementers
