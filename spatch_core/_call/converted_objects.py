"""Types and sizes of converted objects, for messages and traces."""

from __future__ import annotations

from typing import Any

from .._patterns import type_identifier


def moved(before: Any, after: Any) -> str:
    """Return the types of an object before and after its conversion, and its size, as text."""
    text = f"{name_of(before)} to {name_of(after)}"
    for each in (before, after):
        size = size_of(each)
        if size is not None:
            return f"{text}, {size} bytes"
    return text


def size_of(value: Any) -> int | None:
    """Return the number of bytes of an object; None if it has no ``nbytes``."""
    try:
        size = value.nbytes
    except Exception:  # noqa: BLE001  # an attribute of third-party code
        return None
    return size if isinstance(size, int) else None


def name_of(value: Any) -> str:
    """Return the identifier of the type of an object."""
    return type_identifier(type(value))
