"""Unknown keys of a description: misspelled, misplaced, or fields of a later version."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from .._identifiers import identifier_like, nearest, split_identifier
from .._reporting.errors import IdentifierError
from .._reporting.problems import Problem, Source, shortened
from .fields import ATTRIBUTES, FUNCTIONS, RESTRICTING, TABLE, all_fields, kind_of, place_of

MISSPELLED = 0.85
"""The least similarity to a field's name at which a key counts as a misspelling.

Misspellings warn. Other unknown keys may belong to a later version of this package.
"""
_SHORTEST = 4
"""The least length of a key that is looked for inside the names of fields."""
_DEEPEST = 20
"""The depth up to which nested tables are read as the parts of a module's name."""


class KeyChecker:
    """Collects the faults of a description, each with its key path, and reports unknown keys.

    Parameters
    ----------
    backend : str
        The backend's name, for the messages.
    source : Source
        Where the fields come from, for the messages.

    Attributes
    ----------
    problems : list of Problem
        The faults found so far.
    """

    def __init__(self, backend: str, source: Source) -> None:
        self.backend = backend
        self.source = source
        self.problems: list[Problem] = []

    def fault(self, path: str, message: str, remedy: str) -> None:
        """Report a fault at a key path such as ``functions."lib:fn".function``."""
        message, remedy, path = map(shortened, (message, remedy, path))
        self.problems.append(Problem(message, remedy, self.backend, path, self.source))

    def check_keys(self, table: Mapping[Any, Any], known: Collection[str], path: str) -> None:
        """Report keys that are not among the `known` ones.

        A field of another table is a fault, because the backend would be used without that field.
        Any other key is ignored: a later version may know it.
        """
        for key in table:
            if key not in known:
                self.check_key(table, key, known, path + str(key))

    def check_key(
        self, table: Mapping[Any, Any], key: object, known: Collection[str], path: str
    ) -> None:
        """Report a key of a table that is not among the `known` ones."""
        kind = kind_of(key)
        if kind and (kind == TABLE) == isinstance(table[key], Mapping):
            self.misplaced(key, path)
            return
        free = [name for name in known if name not in table]
        misspelled = _meant(key, free)
        function = "" if misspelled else misplaced_function(key, table[key])
        meant = [] if function else misspelled or nearest(key, free)
        elsewhere = [] if function or meant else _meant(key, all_fields())
        if function:
            remedy = function
        elif meant:
            remedy = f"Did you mean {meant[0]!r}?"
        elif elsewhere == [key]:  # a table with the name of a plain field, or the reverse
            remedy = f"The field {key!r} belongs {place_of(key)}"
        elif elsewhere:
            remedy = f"Did you mean {elsewhere[0]!r}? Write it {place_of(elsewhere[0])}"
        else:
            remedy = "Remove it, or update spatch-core if a later version knows it"
        message = f"there is no field {str(key)!r}; it is ignored"
        if meant and meant[0] in RESTRICTING:
            message += ", and the backend needs no opt-in"
        warns = bool(function or misspelled or elsewhere)
        self.problems.append(
            Problem(message, remedy, self.backend, path, self.source, skips=False, warns=warns)
        )
        self.check_unknown_table(table[key], path)

    def check_unknown_table(self, table: object, path: str) -> None:
        """Report fields below an unknown key that were meant to keep the backend from running."""
        if isinstance(table, Mapping):
            for key, value in table.items():
                if key in RESTRICTING:
                    self.misplaced(key, f"{path}.{key}")
                else:
                    self.check_unknown_table(value, f"{path}.{key}")
        elif isinstance(table, (list, tuple)):
            for position, value in enumerate(table):
                self.check_unknown_table(value, f"{path}[{position}]")

    def misplaced(self, key: object, path: str) -> None:
        """Report a field in a table where it has no effect."""
        self.fault(
            path,
            f"the field {str(key)!r} has no effect in this table",
            f"Write it {place_of(key)}",
        )


def _meant(key: object, names: Iterable[str]) -> list[str]:
    """Return the fields that a key misspells, or else the fields whose names contain it."""
    names = list(names)
    text = str(key).casefold()
    parts = [name for name in names if len(text) >= _SHORTEST and text in name]
    return nearest(key, names, MISSPELLED) or parts


def misplaced_function(key: object, value: Any) -> str:
    """Return where a misplaced function of the library belongs; empty for any other key.

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


def _identifier(path: list[str]) -> str:
    """Return the identifier that the names of nested tables form; empty if they form none."""
    text = ".".join(path)
    try:
        split_identifier(text)
    except IdentifierError:
        return identifier_like(text) if "." in text else ""
    return text
