"""What is alive in this process: classes, and the systems of libraries."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any


def every_class() -> Iterator[type]:
    """Yield all classes that there are, whatever their metaclasses do."""
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
    """Return the `BackendSystem` of every library that has been imported.

    Wherever it is kept: as a global of some module, or an attribute of a class. By the name of
    its class, because a library may vendor this package.
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
