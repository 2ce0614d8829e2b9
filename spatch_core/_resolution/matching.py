"""Which backends know a class, by the type patterns of their descriptions."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from sys import modules
from weakref import WeakKeyDictionary

from .._description import Description
from .._patterns import (
    ABSTRACT,
    DEFAULT,
    EXACT,
    TypePattern,
    import_identifier,
    is_awaited,
    is_class,
    is_general,
    is_hashable_by_identity,
    module_of,
    mro_of,
)
from .pattern_index import PatternIndex


@dataclass(frozen=True, slots=True)
class TypeMatch:
    """The backends that know one class.

    Parameters
    ----------
    primary : frozenset of str
        Names of the backends for which it is a primary type.
    known : frozenset of str
        Names of the backends for which it is a primary or secondary type.
    is_builtin : bool
        Whether it is one of Python's own classes, such as float or list.
    aliases : tuple of TypePattern
        Patterns that may turn out to name it once their modules are imported.
    specific : frozenset of str
        Names of the backends for which it is a primary type by a specific pattern. Unless the
        library lists Python's own classes alone, patterns are general if they name one with ``~``,
        or an abstract class of the standard library; for these classes, all patterns are general.
    nearness : tuple of frozenset of str
        Names of the backends for which it is a primary type by an exact or subclass pattern,
        grouped by the position on its MRO of the class that the pattern names, the nearest first.
    """

    primary: frozenset[str]
    known: frozenset[str]
    is_builtin: bool
    aliases: tuple[TypePattern, ...]
    specific: frozenset[str]
    nearness: tuple[frozenset[str], ...] = ()


class Matcher:
    """Matches classes against the type patterns of all backends.

    Parameters
    ----------
    descriptions : mapping of str to Description
        By name.
    """

    def __init__(self, descriptions: Mapping[str, Description]) -> None:
        primary: dict[TypePattern, set[str]] = {}
        known: dict[TypePattern, set[str]] = {}
        for name, description in descriptions.items():
            for pattern in description.primary_types:
                primary.setdefault(pattern, set()).add(name)
                known.setdefault(pattern, set()).add(name)
            for pattern in description.secondary_types:
                known.setdefault(pattern, set()).add(name)
        self._primary = primary
        self._known = known
        listed = descriptions[DEFAULT].known_types if DEFAULT in descriptions else ()
        # An array library that also lists `builtins:list` still leaves `f(array, 2.0)` to itself.
        self._is_of_builtins = bool(listed) and all(each.module == "builtins" for each in listed)
        self._index = PatternIndex(known)
        self._abstract_patterns = [each for each in known if each.prefix == ABSTRACT]
        self._sets: dict[frozenset[str], frozenset[str]] = {}
        self._abstract_bases: dict[TypePattern, type | None] = {}
        # Changes with each `register` of an abstract class, which may change any answer.
        self._token = abc.get_cache_token()
        # A `TypeMatch` refers to no class, so each entry ends with its class.
        self._memo: WeakKeyDictionary[type, TypeMatch] = WeakKeyDictionary()
        self.abstract = frozenset(
            name for pattern in known if pattern.prefix == ABSTRACT for name in known[pattern]
        )

    def match(self, cls: type) -> TypeMatch:
        """Return the backends that know `cls`.

        Parameters
        ----------
        cls : type
            A dispatch type. The matcher does not keep it alive.
        """
        if self.abstract and self._token != abc.get_cache_token():
            self.forget()
        if not is_hashable_by_identity(cls):
            return self._match(cls)
        # Read once, before matching: if another thread calls `forget` meanwhile, an answer by the
        # old registrations is written to the old memo.
        memo = self._memo
        match = memo.get(cls)
        if match is None:
            match = memo[cls] = self._match(cls)
        return match

    def backends_of(self, pattern: TypePattern) -> frozenset[str]:
        """Return the names of the backends that a pattern belongs to."""
        return self._interned(self._known[pattern])

    def forget(self) -> None:
        """Forget every answer, because a class was registered or a module imported."""
        # The token first: a registration after it makes the next `match` forget again.
        self._token = abc.get_cache_token()
        self._memo = WeakKeyDictionary()

    def _match(self, cls: type) -> TypeMatch:
        primary: set[str] = set()
        known: set[str] = set()
        specific: set[str] = set()
        by_distance: dict[int, set[str]] = {}
        is_builtin = module_of(cls) == "builtins"
        distances = self._index.distances(cls)
        found: list[tuple[TypePattern, type, int | None]] = [
            (pattern, mro_of(cls)[distance], distance) for pattern, distance in distances.items()
        ]
        for pattern in self._abstract_patterns:
            base = self._abstract_base(pattern, cls)
            if base is not None:
                found.append((pattern, base, None))
        for pattern, named, distance in found:
            known |= self._known[pattern]
            names = self._primary.get(pattern)
            if names is None:
                continue
            primary |= names
            general = is_builtin or (pattern.prefix != EXACT and is_general(named))
            if self._is_of_builtins or not general:
                specific |= names
            if distance is not None:
                by_distance.setdefault(distance, set()).update(names)
        awaited = self._index.awaited_aliases(cls, bool(known))
        # For the other abstract patterns, the import has been tried: their answers are final.
        pending = [each for each in self._abstract_patterns if each not in self._abstract_bases]
        return TypeMatch(
            self._interned(primary),
            self._interned(known),
            is_builtin,
            (*awaited, *(each for each in pending if each.may_alias(cls, bool(known)))),
            self._interned(specific),
            self._by_nearness(by_distance),
        )

    def _by_nearness(self, by_distance: Mapping[int, set[str]]) -> tuple[frozenset[str], ...]:
        """Return the names by distance; a name counts at its least distance alone."""
        nearness = []
        seen: set[str] = set()
        for distance in sorted(by_distance):
            names = by_distance[distance] - seen
            seen |= names
            if names:
                nearness.append(self._interned(names))
        return tuple(nearness)

    def _interned(self, names: set[str]) -> frozenset[str]:
        """Return `names` as a frozenset, the same object for equal sets.

        `GoldenRule` caches answers by these sets; an identical key is found without comparing a
        thousand names.
        """
        frozen = frozenset(names)
        return self._sets.setdefault(frozen, frozen)

    def _abstract_base(self, pattern: TypePattern, cls: type) -> type | None:
        """Return the class that an abstract pattern names if `cls` is a subclass of it."""
        base = self._abstract_bases.get(pattern)
        if base is None and pattern not in self._abstract_bases:
            base = _import_base(pattern)
            # Not while its module is being imported: the class may not be defined yet.
            if not is_awaited(pattern.module) or pattern.module not in modules:
                self._abstract_bases[pattern] = base
        if base is None:
            return None
        try:
            return base if issubclass(cls, base) else None
        except Exception:  # noqa: BLE001  # a __subclasshook__ of a third party
            return None


def _import_base(pattern: TypePattern) -> type | None:
    """Import an abstract base class; None if that fails, which `doctor` reports."""
    try:
        base = import_identifier(pattern.identifier)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # whatever the module raises
        return None
    return base if is_class(base) else None  # type: ignore[return-value]  # it is a type
