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
    its only user, and delegates everything to the methods defined here, so that a cached
    description looks like a parsed one.

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

    __slots__ = ("_columns", "_identifiers", "_index", "_made", "_parse", "_text")

    def __init__(
        self,
        identifiers: tuple[str, ...],
        columns: bytes,
        parse: Callable[[], Mapping[str, Implementation]],
    ) -> None:
        self._identifiers = identifiers
        self._index: dict[str, int] = {}
        self._text = columns
        self._parse = parse
        self._columns: list[list[Any]] | None = None
        self._made: dict[str, Implementation] = {}

    @property
    def _positions(self) -> dict[str, int]:
        """Where each function stands; made when one is first looked up."""
        index = self._index
        if len(index) < len(self._identifiers):
            index = self._index = {each: number for number, each in enumerate(self._identifiers)}
        return index

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

    def docs(self) -> Mapping[str, str] | str:
        """Return the `additional_docs` of all functions, or the one text that all have.

        No `Implementation` is made for this.
        """
        try:
            column = (self._columns or self._load())[_DOCS]
            if {*map(type, column)} == {str}:
                if len(column) == 1:
                    return str(column[0])
                return dict(zip(self._identifiers, column, strict=True))
        except MALFORMED:
            pass
        return {identifier: each.additional_docs for identifier, each in self.items()}

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
        return {identifier: self[identifier] for identifier in self._identifiers}

    def get(self, identifier: str, default: Any = None) -> Any:
        return self[identifier] if identifier in self._positions else default

    def keys(self) -> KeysView[str]:
        return self._positions.keys()

    def values(self) -> ValuesView[Implementation]:
        return self.copy().values()

    def items(self) -> ItemsView[str, Implementation]:
        return self.copy().items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._identifiers)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._identifiers)

    def __len__(self) -> int:
        return len(self._identifiers)

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
