"""The classes of this process, and the systems of the imported libraries."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any


def every_class() -> Iterator[type]:
    """Yield all classes, without calling the ``__subclasses__`` of a metaclass."""
    seen: set[int] = set()
    waiting: list[type] = [object]
    while waiting:
        subclasses: list[type] = type.__subclasses__(waiting.pop())
        for each in subclasses:
            if id(each) not in seen:
                seen.add(id(each))
                waiting.append(each)
                yield each


def live_systems() -> list[Any]:
    """Return the `BackendSystem` of every imported library.

    The garbage collector finds them, because a library may keep its system anywhere. Classes are
    compared by name, because a library may vendor this package.
    """
    classes = {
        id(each)
        for each in every_class()
        if any(_name(base) == "BackendSystem" for base in type.mro(each))
        and hasattr(each, "explain_types")
    }
    return [each for each in gc.get_objects() if id(type(each)) in classes]


def _name(cls: type) -> str:
    name: str = type.__dict__["__name__"].__get__(cls)
    return name
