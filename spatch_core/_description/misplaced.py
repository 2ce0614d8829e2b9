"""Tables of functions that stand where they have no effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._identifiers import identifier_like, split_identifier
from ..exceptions import IdentifierError
from .fields import ATTRIBUTES, FUNCTIONS


def misplaced_function(key: object, value: Any) -> str:
    """Return where the table of a function belongs; empty if a key is none.

    Parameters
    ----------
    key : object
        An unknown key.
    value : object
        Its value. Without quotes, ``[lib.fn]`` is one table in another.

    Examples
    --------
    >>> misplaced_function("lib:fn", {"function": "pkg:fn"})
    'Write it as [functions."lib:fn"]'
    >>> misplaced_function("lib", {"fn": {"function": "pkg:fn"}})
    'Write it as [functions."lib:fn"]'
    """
    path = [str(key)]
    if isinstance(value, str) and ":" in path[0] and _identifier(path) and _identifier([value]):
        return (
            f'Write function = {value!r} below [{FUNCTIONS}."{key}"], or the line below '
            f"[{ATTRIBUTES}] if {key} is an attribute"
        )
    if not isinstance(value, Mapping):
        return ""
    if ":" in path[0] and _identifier(path):
        return f'Write it as [{FUNCTIONS}."{key}"]'
    while not isinstance(value.get("function"), str) and not callable(value.get("function")):
        inner = [(name, each) for name, each in value.items() if isinstance(each, Mapping)]
        if len(path) == _DEEPEST or not inner:
            return ""
        name, value = inner[0]
        path.append(str(name))
    identifier = _identifier(path)
    if not identifier:
        return f'Write it as [{FUNCTIONS}."module:{path[-1]}"], with the module of the function'
    return f'Write it as [{FUNCTIONS}."{identifier}"]'


_DEEPEST = 20
"""More names have the modules of no library."""


def _identifier(path: list[str]) -> str:
    """Return the identifier that the names of nested tables mean; empty if they mean none."""
    text = ".".join(path)
    try:
        split_identifier(text)
    except IdentifierError:
        return identifier_like(text) if "." in text else ""
    return text
