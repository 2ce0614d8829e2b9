"""Leaves: the objects inside of lists, tuples, dictionaries, slices and namedtuples.

Containers are exact lists, tuples, slices and dictionaries, and namedtuples: the items of other
classes may mean something else. A container may contain itself.

Dictionaries and sets are keyed by identity. `Leaves` refers to all leaves and containers, so that
no identity is reused while it lives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import is_
from types import EllipsisType, MappingProxyType
from typing import Any

_NOTHING: Mapping[int, Any] = MappingProxyType({})

NO_LEAVES = frozenset({bool, bytes, complex, float, int, range, str, type(None), EllipsisType})
"""Classes whose objects are never leaves."""


def is_container(cls: type) -> bool:
    """Whether the objects of a class are containers."""
    if cls is list or cls is tuple or cls is dict or cls is slice:
        return True
    # A namedtuple. `issubclass` runs no code of a metaclass of `cls`; `getattr` may, but only for
    # subclasses of tuple.
    return (
        issubclass(cls, tuple)
        and isinstance(getattr(cls, "_fields", None), tuple)
        and hasattr(cls, "_make")
    )


class Leaves:
    """The leaves of some objects, each once, in the order in which they first appear.

    Parameters
    ----------
    roots : iterable
        The objects to search.
    is_leaf : callable
        Whether the objects of a class are leaves.
    is_noted : callable, optional
        Whether objects of a class that are no leaves are noted.
    known : mapping of int to object, optional
        By identity, the replacements of objects. These are leaves whatever their classes, and
        their items are not searched; but objects that replace themselves are no leaves.

    Attributes
    ----------
    found, noted : dict of int to object
        The leaves and the noted objects, by identity.
    """

    __slots__ = ("_containers", "_touched", "found", "noted")

    def __init__(
        self,
        roots: Iterable[Any],
        is_leaf: Callable[[type], bool],
        is_noted: Callable[[type], bool] | None = None,
        known: Mapping[int, Any] = _NOTHING,
    ) -> None:
        self.found: dict[int, Any] = {}
        self.noted: dict[int, Any] = {}
        self._containers: dict[int, Any] = {}
        # The containers that hold a leaf or container, all by identity.
        holders: dict[int, list[int]] = {}
        has_known = len(known) > 0
        # A stack instead of recursion: containers may be nested deeply, and contain themselves.
        pending: list[tuple[int | None, Any]] = [(None, iter(roots))]
        while pending:
            holder, items = pending[-1]
            for item in items:
                cls = type(item)
                if type(cls) is type and cls in NO_LEAVES:
                    continue
                key = id(item)
                is_known = has_known and key in known
                if is_known and known[key] is item:
                    continue
                is_holder = not is_known and is_container(cls)
                if not (is_holder or is_known or is_leaf(cls)):
                    if is_noted is not None and is_noted(cls):
                        self.noted[key] = item
                    continue
                if holder is not None:
                    holders.setdefault(key, []).append(holder)
                if not is_holder:
                    self.found.setdefault(key, item)
                elif key not in self._containers:
                    self._containers[key] = item
                    # `_items` copies: other threads may change the container.
                    pending.append((key, iter(_items(item))))
                    break
            else:
                pending.pop()
        self._touched: set[int] = set()
        if holders:
            self._touch(holders)

    def _touch(self, holders: dict[int, list[int]]) -> None:
        """Find the containers with a leaf at any depth."""
        pending = [holder for key in self.found for holder in holders.get(key, ())]
        while pending:
            key = pending.pop()
            if key not in self._touched:
                self._touched.add(key)
                pending += holders.get(key, ())

    def replaced(
        self, value: Any, made: dict[int, Any], origins: Mapping[int, Any] = _NOTHING
    ) -> Any:
        """Return an object with other leaves.

        Parameters
        ----------
        value : object
            One of the objects, or something inside of one.
        made : dict of int to object
            By identity, the replacement of each leaf. New containers are added, so that a
            container that appears twice is made once.
        origins : mapping of int to object, optional
            By identity of containers, an object to use instead if the new container has the same
            items.

        Returns
        -------
        object
            The same object if it contains no leaf.
        """
        key = id(value)
        if key in made:
            return made[key]
        if key not in self._touched:
            return value
        # Each container comes twice: before and after the containers in it.
        pending = [(value, False)]
        while pending:
            each, is_ready = pending.pop()
            key, cls = id(each), type(each)
            if is_ready:
                self._fill(each, made, origins)
            elif key not in made and key in self._touched:
                # Made empty and filled later: containers may contain themselves, a tuple only
                # through a list or a dictionary.
                if cls is list or cls is dict:
                    made[key] = cls()
                pending.append((each, True))
                pending += [(item, False) for item in _items(each)]
        return made[id(value)]

    @staticmethod
    def _fill(container: Any, made: dict[int, Any], origins: Mapping[int, Any]) -> None:
        """Make a container of the replacements of its items."""
        key, cls = id(container), type(container)
        if cls is list:
            made[key] += [made.get(id(item), item) for item in container]
        elif cls is dict:
            made[key].update([(k, made.get(id(item), item)) for k, item in container.items()])
        elif key not in made:
            items = [made.get(id(item), item) for item in _items(container)]
            if cls is slice:
                made[key] = slice(*items)
            else:
                made[key] = tuple(items) if cls is tuple else tuple.__new__(cls, items)
        if key in origins and has_same_items(origins[key], made[key]):
            made[key] = origins[key]

    def mutable_pairs(self, made: Mapping[int, Any]) -> Iterator[tuple[Any, Any]]:
        """Yield the replacement (or itself) of each list and dictionary, and the container."""
        for key, container in self._containers.items():
            if type(container) is list or type(container) is dict:
                yield made.get(key, container), container

    def origins(self, made: Mapping[int, Any]) -> dict[int, Any]:
        """Return the containers, by identity of their replacements."""
        return {id(made[key]): self._containers[key] for key in self._touched if key in made}


def _items(container: Any) -> list[Any]:
    if type(container) is dict:
        return [*container.values()]
    if type(container) is slice:
        return [container.start, container.stop, container.step]
    return [*container]


def has_same_items(first: Any, second: Any) -> bool:
    """Whether two containers have the same objects in the same order."""
    if type(first) is not type(second):
        return False
    if type(first) is dict and [*first] != [*second]:
        return False
    items, others = _items(first), _items(second)
    return len(items) == len(others) and all(map(is_, items, others))
