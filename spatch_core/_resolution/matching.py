"""Which backends know a class, by the type patterns of their descriptions."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from sys import exc_info, modules
from typing import Any
from weakref import WeakKeyDictionary

from .._classes import is_class, is_general, is_hashable_by_identity, module_of, mro_of
from .._description.description import Description
from .._identifiers import import_identifier, is_awaited
from .._interrupts import raise_interrupt, with_memory
from .._type_patterns import ABSTRACT, EXACT, TypePattern
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
        Whether it is a class of Python's own, such as float or list.
    aliases : tuple of TypePattern
        Patterns that may turn out to name it once their modules are imported.
    specific : frozenset of str
        Names of the backends for which it is a primary type by a pattern that says something
        about it: none for Python's own classes; else the patterns that do not name one of
        Python's own classes with ``~``, or an abstract class of the standard library.
    nearness : tuple of frozenset of str
        Names of the backends for which it is a primary type by an exact or subclass pattern,
        by the position on its MRO of the class that the pattern names, the nearest first.
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
        self._index = PatternIndex(known)
        self._abstract_patterns = [each for each in known if each.prefix == ABSTRACT]
        self._sets: dict[frozenset[str], frozenset[str]] = {}
        self._abstract_bases: dict[TypePattern, type | None] = {}
        self._token = abc.get_cache_token()
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
        # Read once, before matching: if another thread forgets meanwhile, an answer by the old
        # registrations lands in the old memo.
        memo = self._memo
        match = memo.get(cls)
        if match is None:
            match = memo[cls] = self._match(cls)
        return match

    def backends_of(self, pattern: TypePattern) -> frozenset[str]:
        """Return the names of the backends that a pattern belongs to."""
        return self._one_of_each(self._known[pattern])

    def forget(self) -> None:
        """Forget every answer, because a class was registered or a module imported."""
        self._token = abc.get_cache_token()
        self._memo = WeakKeyDictionary()

    def _match(self, cls: type) -> TypeMatch:
        primary: set[str] = set()
        known: set[str] = set()
        specific: set[str] = set()
        by_distance: dict[int, set[str]] = {}
        is_builtin = module_of(cls) == "builtins"
        distances = self._index.distances(cls)
        meaning: list[tuple[TypePattern, type, int | None]] = [
            (pattern, mro_of(cls)[distance], distance) for pattern, distance in distances.items()
        ]
        for pattern in self._abstract_patterns:
            base = self._abstract_base(pattern, cls)
            if base is not None:
                meaning.append((pattern, base, None))
        for pattern, named, distance in meaning:
            known |= self._known[pattern]
            names = self._primary.get(pattern)
            if names is None:
                continue
            primary |= names
            if not (is_builtin or (pattern.prefix != EXACT and is_general(named))):
                specific |= names
            if distance is not None:
                by_distance.setdefault(distance, set()).update(names)
        awaited = self._index.awaited_aliases(cls, bool(known))
        # The module of any other abstract pattern was imported, so that its answer is final.
        asked = [each for each in self._abstract_patterns if each not in self._abstract_bases]
        return TypeMatch(
            self._one_of_each(primary),
            self._one_of_each(known),
            is_builtin,
            (*awaited, *(each for each in asked if each.may_alias(cls, bool(known)))),
            self._one_of_each(specific),
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
                nearness.append(self._one_of_each(names))
        return tuple(nearness)

    def _one_of_each(self, names: set[str]) -> frozenset[str]:
        """Return `names` as a set that is made once.

        Answers for a set are kept by `GoldenRule`; equal sets that are one object are found
        there without comparing a thousand names.
        """
        frozen = frozenset(names)
        return self._sets.setdefault(frozen, frozen)

    def _abstract_base(self, pattern: TypePattern, cls: type) -> type | None:
        """Return the class that an abstract pattern names if `cls` is a subclass of it."""
        base = self._abstract_bases.get(pattern)
        if base is None and pattern not in self._abstract_bases:
            base = _import_base(pattern)
            if not is_awaited(pattern.module) or pattern.module not in modules:
                self._abstract_bases[pattern] = base
        if base is None:
            return None
        before = exc_info()[1]
        try:
            return base if issubclass(cls, base) else None
        except MemoryError as error:
            return base if _from_others(lambda: issubclass(cls, base), error) else None
        except BaseException as error:  # noqa: BLE001  # a __subclasshook__ of a third party
            raise_interrupt(error, before)
            return None


def _import_base(pattern: TypePattern) -> type | None:
    """Import an abstract base class; None if it is not there, which `doctor` reports."""
    base = _from_others(lambda: import_identifier(pattern.identifier), exc_info()[1])
    return base if is_class(base) else None


def _from_others(run: Callable[[], Any], before: BaseException | None) -> Any:
    """Return what a third party's code returns; None if it fails, and is not interrupted.

    What was being handled `before` is no interrupt of it.
    """
    try:
        return with_memory(run)
    except BaseException as error:  # noqa: BLE001  # whatever it raises
        raise_interrupt(error, before)
        return None
