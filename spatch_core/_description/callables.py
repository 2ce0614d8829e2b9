"""Descriptions in code: objects in place of tables, and callables in place of identifiers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from .._identifiers import nearest


class GivenCallable(str):
    """The identifier of a callable that a description holds; it is never imported.

    Two are equal if their callables are the same object: all lambdas of a module have one
    identifier.

    Attributes
    ----------
    given : callable
        The callable, which need not be importable.
    """

    __slots__ = ("given",)

    given: Callable[..., Any]

    def __eq__(self, other: object) -> bool:
        if type(other) is GivenCallable:
            return self.given is other.given
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> Any:
        return str, (str(self),)  # without the callable, which may not support pickling


def identify(given: Callable[..., Any]) -> GivenCallable:
    """Return the identifier of a callable, made from its name or its class's name."""
    named = given if hasattr(given, "__qualname__") else type(given)
    # Ufuncs of older NumPy versions have no `__module__`.
    module = getattr(given, "__module__", None) or "?"
    identifier = GivenCallable(f"{module}:{named.__qualname__}")
    identifier.given = given
    return identifier


def as_mapping(fields: Any, functions: Collection[str]) -> Mapping[Any, Any]:
    """Return the fields of a description, from a mapping or an object.

    Parameters
    ----------
    fields : mapping or object
        A mapping with the fields as keys, or an object with them as attributes.
    functions : collection of str
        Identifiers of functions of the library, for a table that only has ``get``.
    """
    from .fields import FIELDS, NO_FUNCTIONS, kind_of  # candidates need none of this
    from .unknown_keys import MISSPELLED

    if not isinstance(fields, Mapping):
        # An object may have other attributes, unless they look like misspelled fields. A field of
        # a table, such as `function`, counts only if it is a mapping: a module may define it.
        others = [name for name in getattr(fields, "__dict__", ()) if name not in FIELDS]
        misspelled = [
            name
            for name in others
            if nearest(name, FIELDS, MISSPELLED)
            and not (kind_of(name) and not isinstance(getattr(fields, name), Mapping))
        ]
        fields = {
            name: getattr(fields, name) for name in (*FIELDS, *misspelled) if hasattr(fields, name)
        }
    table: Any = fields.get("functions")
    if not isinstance(table, Mapping) and callable(getattr(table, "get", None)):
        asked = {key: table.get(key) for key in (*NO_FUNCTIONS, *functions)}
        found = {key: entry for key, entry in asked.items() if entry is not None}
        fields = {**fields, "functions": found}
    return fields  # type: ignore[no-any-return]
