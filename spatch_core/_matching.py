"""Type patterns against classes: which backends know a class, and which classes override."""

from __future__ import annotations

import abc
import sys
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from ._patterns import (
    ABSTRACT,
    DEFAULT,
    EXACT,
    TypePattern,
    bases_of,
    defined,
    dict_of,
    import_identifier,
    is_awaited,
    is_class,
    is_derived,
    is_general,
    is_hashable_by_identity,
    loaded_object,
    module_of,
    mro_of,
    type_identifier,
)

if TYPE_CHECKING:
    from ._description import Description


class TypeMatch(NamedTuple):
    """The backends that know one class; it refers to no class."""

    primary: frozenset[str]
    """The backends for which it is a primary type."""
    known: frozenset[str]
    """The backends for which it is a primary or secondary type."""
    specific: frozenset[str]
    """The backends for which it is a primary type by a pattern that says much about the class.

    Patterns of Python's own classes say little, and so do ``~float`` of ``numpy.float64`` and the
    abstract classes of the standard library, unless the library lists Python's own classes alone.
    """
    nearness: tuple[frozenset[str], ...]
    """The backends for which it is a primary type, except by abstract patterns, grouped by the
    place on the MRO of the class that the pattern names; the nearest first."""
    is_builtin: bool
    """Whether it is one of Python's own classes, such as float or list."""
    awaited: tuple[TypePattern, ...]
    """Patterns that may turn out to name it once their modules are imported."""


class Matcher:
    """Matches classes against the type patterns of all backends of a library."""

    def __init__(self, descriptions: Mapping[str, Description]) -> None:
        self._primary: dict[TypePattern, set[str]] = {}
        self._known: dict[TypePattern, set[str]] = {}
        for name, description in descriptions.items():
            for pattern in description.primary_types:
                self._primary.setdefault(pattern, set()).add(name)
                self._known.setdefault(pattern, set()).add(name)
            for pattern in description.secondary_types:
                self._known.setdefault(pattern, set()).add(name)
        listed = descriptions[DEFAULT].known_types if DEFAULT in descriptions else ()
        # An array library that also lists `builtins:list` still leaves `f(array, 2.0)` to itself.
        self._is_of_builtins = bool(listed) and all(each.module == "builtins" for each in listed)
        self._abstract = [each for each in self._known if each.prefix == ABSTRACT]
        self._named = [each for each in self._known if each.prefix != ABSTRACT]
        self._abstract_bases: dict[TypePattern, type | None] = {}
        # Changes with each `register` of an abstract class, which may change any answer.
        self._token = abc.get_cache_token()
        self._memo: WeakKeyDictionary[type, TypeMatch] = WeakKeyDictionary()
        self.abstract = frozenset(name for each in self._abstract for name in self._known[each])

    def match(self, cls: type) -> TypeMatch:
        """Return the backends that know a class, which is not kept alive."""
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

    def forget(self) -> None:
        """Forget every answer, because a class was registered or a module imported."""
        # The token first: a registration after it makes the next `match` forget again.
        self._token = abc.get_cache_token()
        self._memo = WeakKeyDictionary()

    def backends_of(self, pattern: TypePattern) -> frozenset[str]:
        """Return the backends that a pattern belongs to."""
        return frozenset(self._known[pattern])

    def _match(self, cls: type) -> TypeMatch:
        primary: set[str] = set()
        known: set[str] = set()
        specific: set[str] = set()
        by_distance: dict[int, set[str]] = {}
        is_builtin = module_of(cls) == "builtins"
        for pattern, named, distance in self._found(cls):
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
        nearness = []
        seen: set[str] = set()  # a backend counts at its least distance alone
        for distance in sorted(by_distance):
            nearness.append(frozenset(by_distance[distance] - seen))
            seen |= by_distance[distance]
        return TypeMatch(
            *(frozenset(primary), frozenset(known), frozenset(specific)),
            tuple(filter(None, nearness)),
            is_builtin,
            tuple(self._awaited(cls, bool(known))),
        )

    def _found(self, cls: type) -> Iterable[tuple[TypePattern, type, int | None]]:
        """Yield the patterns that mean a class, with the class that each names and its place."""
        mro = mro_of(cls)
        for pattern in self._named:
            distance = pattern.distance(cls)
            if distance is not None:
                yield pattern, mro[distance], distance
        for pattern in self._abstract:
            base = self._abstract_base(pattern, cls)
            if base is not None:
                yield pattern, base, None

    def _awaited(self, cls: type, known: bool) -> Iterable[TypePattern]:
        """Yield the patterns that may turn out to name a class once a module is imported.

        See `TypePattern.resembles`; the name of the class counts only if it is not `known`.
        """
        for pattern in self._named:
            if is_awaited(pattern.module) and pattern.resembles(cls, by_name=not known):
                yield pattern
        # Matching imports the modules of abstract patterns. Answers are final except while one is
        # in the middle of its import.
        pending = [each for each in self._abstract if each not in self._abstract_bases]
        modules = sys.modules
        yield from (e for e in pending if e.module in modules and is_awaited(e.module))

    def _abstract_base(self, pattern: TypePattern, cls: type) -> type | None:
        """Return the class that an abstract pattern names if `cls` is a subclass of it."""
        base = self._abstract_bases.get(pattern)
        if base is None and pattern not in self._abstract_bases:
            base = _import_base(pattern)
            # Not while its module is being imported: the class may not be defined yet.
            if not is_awaited(pattern.module) or pattern.module not in sys.modules:
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


class GenericMethod(classmethod):  # type: ignore[type-arg]  # no subscript at run time
    """The method of a library's mixin, see `_classes.library_functions`.

    A direct subclass of the mixin is the library's own base class. It does not override: calls
    with it alone cost no more than without a protocol.
    """


def overriding_types(types: Iterable[type], protocol: str) -> tuple[type, ...]:
    """Return the classes that override, each before its superclasses, else from left to right."""
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


ARRAY_FUNCTION = "__array_function__"
"""The one protocol whose method is called with an instance."""
_GENERIC = {
    ARRAY_FUNCTION: [("numpy", "ndarray")],
    # That of a parameter is how PyTorch disables the protocol.
    "__torch_function__": [("torch", "Tensor"), ("torch.nn", "Parameter")],
}
"""Protocols that a library may share; the methods of these classes do not override."""


def overrides(cls: type, protocol: str) -> bool:
    """Whether a class has the method of a protocol; a class may disable it by None."""
    method = defined(cls, protocol)
    if method is None:
        return False
    for place in _GENERIC.get(protocol, ()):
        owner: Any = loaded_object(*place)
        if owner is not None and method is defined(owner, protocol):
            return False
    if isinstance(method, FunctionType) and protocol != ARRAY_FUNCTION:
        raise TypeError(
            f"{type_identifier(cls)} has a method {protocol} that is called without an instance: "
            f"write @classmethod above def {protocol}(cls, func, types, args, kwargs)"
        )
    if isinstance(method, GenericMethod):
        return not any(dict_of(base).get(protocol) is method for base in bases_of(cls))
    return True
