"""The functions of a cached description, made one by one when they are looked up."""

from __future__ import annotations

from .._description.description import Implementation
from .._description.fields import CACHED_FUNCTION_FIELDS, FUNCTION_TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
    from typing import Any

# Errors that a corrupt cache can raise. An `IdentifierError` is a `ValueError`.
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


def kinds_in_json(kind: str, default: str) -> tuple[type, ...]:
    """Return the types that a value of a simple kind of field may have in the cache.

    >>> kinds_in_json("identifier", "none")
    (<class 'str'>, <class 'NoneType'>)
    """
    found = bool if kind == "boolean" else str
    return (found, type(None)) if default == "none" else (found,)


_KINDS = {key: kinds_in_json(*FUNCTION_TABLE[key][:2]) for key in CACHED_FUNCTION_FIELDS}


def implementation_of(values: list[Any]) -> Implementation:
    """Return an implementation with the given values of its cached fields.

    Raises
    ------
    TypeError, ValueError
        If their number or types are wrong.
    """
    found: dict[str, Any] = dict(zip(CACHED_FUNCTION_FIELDS, values, strict=True))
    for key, kinds in _KINDS.items():
        if type(found[key]) not in kinds:
            raise TypeError(f"{key} cannot be {found[key]!r}")
    return Implementation(**found)


_DOCS = [*CACHED_FUNCTION_FIELDS].index("additional_docs")


class LazyFunctions:
    """A mapping of functions to be wrapped in a `MappingProxyType`; see `columns_of`.

    A library with 100 backends of 100 functions each calls few of the 10,000. The proxy is
    only user, and it delegates everything to the methods defined here, so that a cached description
    looks like a parsed one.

    Parameters
    ----------
    identifiers : tuple of str
        The keys.
    columns : bytes
        JSON: for each field of an `Implementation`, the list of its values in the order of the
        functions, or a list with the one value that all share.
    parse : callable
        Returns the functions from the backend's file, in case `columns` is malformed.
    """

    __slots__ = ("_columns", "_made", "_parse", "_positions", "_text")

    def __init__(
        self,
        identifiers: tuple[str, ...],
        columns: bytes,
        parse: Callable[[], Mapping[str, Implementation]],
    ) -> None:
        self._positions = dict(zip(identifiers, range(len(identifiers)), strict=True))
        self._text = columns
        self._parse = parse
        self._columns: list[list[Any]] | None = None
        self._made: dict[str, Implementation] = {}

    def __getitem__(self, identifier: str) -> Implementation:
        found = self._made.get(identifier)
        if found is None:
            position = self._positions[identifier]
            try:
                found = self._restore(position)
            except MALFORMED:
                found = self._parse()[identifier]
            # Another thread may have been faster; a key must always return the same object.
            found = self._made.setdefault(identifier, found)
        return found

    def additional_docs(self, identifier: str) -> str | None:
        """Return the `additional_docs` of a function without making an `Implementation`.

        None if there is no such function.
        """
        position = self._positions.get(identifier)
        if position is None:
            return None
        try:
            column = (self._columns or self._load())[_DOCS]
            text = column[position] if len(column) > 1 else column[0]
        except MALFORMED:
            text = None
        return text if type(text) is str else self[identifier].additional_docs

    def has_common_docs(self) -> bool:
        """Whether all functions are known to have the same `additional_docs`."""
        try:
            column = (self._columns or self._load())[_DOCS]
            return len(column) == 1 and type(column[0]) is str
        except MALFORMED:
            return False

    def _load(self) -> list[list[Any]]:
        columns = self._columns
        if columns is None:
            from json import loads

            # Several threads may load at once; their results are equal.
            columns = self._columns = loads(self._text)
        return columns

    def _restore(self, position: int) -> Implementation:
        columns = self._load()
        return implementation_of(
            [column[position] if len(column) > 1 else column[0] for column in columns]
        )

    def copy(self) -> dict[str, Implementation]:
        return {identifier: self[identifier] for identifier in self._positions}

    def get(self, identifier: str, default: Any = None) -> Any:
        return self[identifier] if identifier in self._positions else default

    def keys(self) -> KeysView[str]:
        return self._positions.keys()

    def values(self) -> ValuesView[Implementation]:
        return self.copy().values()

    def items(self) -> ItemsView[str, Implementation]:
        return self.copy().items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._positions)

    def __len__(self) -> int:
        return len(self._positions)

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._positions

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    __hash__ = None  # type: ignore[assignment]  # as for a dictionary

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __repr__(self) -> str:
        return repr(self.copy())


def columns_of(functions: Mapping[str, Implementation]) -> list[list[Any]]:
    """Return the values of functions field by field; only one value if all are equal.

    >>> functions = {"lib:a": Implementation("m:a"), "lib:b": Implementation("m:b")}
    >>> columns_of(functions)
    [['m:a', 'm:b'], [None], [False], ['']]
    """
    values = functions.values()
    columns = [[getattr(each, key) for each in values] for key in CACHED_FUNCTION_FIELDS]
    # All values are equal if each equals its predecessor.
    return [each[:1] if each[1:] == each[:-1] else each for each in columns]
