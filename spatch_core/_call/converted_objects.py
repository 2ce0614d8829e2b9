"""Converted objects, as messages and traces name them: their types and their sizes."""

from __future__ import annotations

from typing import Any

from .._classes import type_identifier


def moved(before: Any, after: Any) -> str:
    """Say from which type to which an object was converted, and its size."""
    text = f"{name_of(before)} to {name_of(after)}"
    for each in (before, after):
        size = size_of(each)
        if size is not None:
            return f"{text}, {size} bytes"
    return text


def size_of(value: Any) -> int | None:
    """Return the number of bytes of an object; None if it does not tell."""
    try:
        size = value.nbytes
    except Exception:  # noqa: BLE001  # a third party's attribute
        return None
    return size if isinstance(size, int) else None


def name_of(value: Any) -> str:
    """Return the identifier of the type of an object."""
    return type_identifier(type(value))
