"""Finds the patterns that may mean a class, without asking every pattern."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType

from .._patterns import ABSTRACT, EXACT, TypePattern, is_awaited, module_of, mro_of, qualname_of


class PatternIndex:
    """Exact and subclass patterns, by their names and modules.

    A pattern means a class by the names of a class on the MRO, or as an alias: the object that
    it names in an imported module is such a class. Names are looked up. For aliases, only the
    patterns of imported modules are examined, most of them by one look into the module.

    Parameters
    ----------
    patterns : iterable of TypePattern
        Abstract ones are left out.
    """

    def __init__(self, patterns: Iterable[TypePattern]) -> None:
        self._by_name: dict[tuple[str, str], list[TypePattern]] = {}
        self._by_module: dict[str, list[TypePattern]] = {}
        self._by_package: dict[str, list[TypePattern]] = {}
        self._by_last_name: dict[str, list[TypePattern]] = {}
        for each in patterns:
            if each.prefix != ABSTRACT:
                self._by_name.setdefault((each.module, each.qualname), []).append(each)
                self._by_module.setdefault(each.module, []).append(each)
                package, last = each.module.partition(".")[0], _last(each.qualname)
                self._by_package.setdefault(package, []).append(each)
                self._by_last_name.setdefault(last, []).append(each)

    def distances(self, cls: type) -> dict[TypePattern, int]:
        """Return the patterns that name a class, each with its `TypePattern.distance`."""
        mro = mro_of(cls)
        asked: dict[TypePattern, None] = {}
        for each in mro:
            asked.update(dict.fromkeys(self._by_name.get((module_of(each), qualname_of(each)), ())))
        classes = {id(each) for each in mro}  # a metaclass may define == and hash
        for module in self._by_module:
            if module in sys.modules:
                asked.update(dict.fromkeys(self._possible_aliases(module, cls, classes)))
        found = ((pattern, pattern.distance(cls)) for pattern in asked)
        return {pattern: distance for pattern, distance in found if distance is not None}

    def _possible_aliases(self, module: str, cls: type, classes: set[int]) -> Iterable[TypePattern]:
        """Return the patterns of an imported module that may name `cls`.

        `classes` are the identities of the classes on its MRO.
        """
        patterns = self._by_module[module]
        found = sys.modules.get(module)
        # Other kinds of modules may compute attributes that are not in their namespace.
        if type(found) is not ModuleType:
            return patterns
        namespace = vars(found)
        possible = []
        for pattern in patterns:
            name = pattern.qualname
            if name in namespace:
                if id(namespace[name]) in classes:
                    possible.append(pattern)
            # A module's `__getattr__`, which may import more, is called only for a similar name.
            elif "." in name or pattern.resembles(cls):
                possible.append(pattern)
        return possible

    def awaited_aliases(self, cls: type, known: bool) -> list[TypePattern]:
        """Return the patterns that may turn out to name a class once a module is imported.

        Parameters
        ----------
        cls : type
            Any class.
        known : bool
            Whether a pattern names `cls` already; see `TypePattern.may_alias`.
        """
        # Keyed by identity: hashing a pattern hashes its text.
        found: dict[int, TypePattern] = {}
        for each in mro_of(cls):
            resembling = self._by_package.get(module_of(each).partition(".")[0], ())
            if not known:
                resembling = (*resembling, *self._by_last_name.get(_last(qualname_of(each)), ()))
            for pattern in resembling:
                if each is cls or pattern.prefix != EXACT:
                    found[id(pattern)] = pattern
        return [pattern for pattern in found.values() if is_awaited(pattern.module)]


def _last(qualname: str) -> str:
    return qualname.rpartition(".")[2]
