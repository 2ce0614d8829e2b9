"""Reads fields of the expected types, and collects every fault with its key path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from .._identifiers import DEFAULT, identifier_like, is_backend_name, nearest, split_identifier
from .._problems import Problem, Source
from .._type_patterns import TypePattern
from ..exceptions import IdentifierError
from .description import Variant
from .fields import RESTRICTING, TABLE, VARIANT_TABLE, all_fields, kind_of, place_of
from .given import identify
from .misplaced import misplaced_function

MISSPELLED = 0.85
"""The least similarity of a key to a field's name that makes it a misspelling of it.

That is worth a warning. Other unknown keys may belong to a later version of this package.
"""
_VARIANT = "Write {requires = 'torch>=1.12', function = 'module:qualname'}"
_SHORTEST = 4
"""The least length of a key that may be a part of a field's name."""


class FieldReader:
    """Reads fields; a method returns a valid value even where it reports a fault.

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
        # Identifiers found valid, because many functions share a `should_run`.
        self._valid: set[str] = set()

    def fault(self, path: str, message: str, remedy: str) -> None:
        """Report a fault at a key path such as ``functions."lib:fn".function``."""
        self.problems.append(Problem(message, remedy, self.backend, path, self.source))

    def check_keys(self, table: Mapping[Any, Any], known: Collection[str], path: str) -> None:
        """Report keys that are not among the `known` ones.

        A field of another table is a fault, because the backend would be used without what its
        author has written. Any other key is ignored: a later version may know it.
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
        elif elsewhere == [key]:  # a table in the one place and none in the other
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

    def values(
        self, table: Mapping[Any, Any], fields: Mapping[str, tuple[str, str, str]], path: str
    ) -> dict[str, Any]:
        """Return the valid values in a table, but for those of kinds that are no simple ones.

        Parameters
        ----------
        table : mapping
            The table.
        fields : mapping of str to tuple
            Its fields, as `fields` describes them.
        path : str
            The start of their key paths, up to the last dot.
        """
        found: dict[str, Any] = {}
        for key, (kind, _, _) in fields.items():
            if key not in table:
                continue
            if kind == "identifier":
                if callable(table[key]):
                    found[key] = identify(table[key])
                elif self.is_identifier(table[key], path, key):
                    found[key] = table[key]
            elif kind in _READERS:
                found[key] = _READERS[kind](self, table, key, path + key)
        return found

    def table(self, table: Mapping[Any, Any], key: str, path: str) -> Mapping[Any, Any]:
        """Return a table; empty if it is absent or something else."""
        value = table.get(key, {})
        if isinstance(value, Mapping):
            return value
        self.fault(path, f"{value!r} is not a table", "Make it a table")
        return {}

    def strings(self, table: Mapping[Any, Any], key: str, path: str) -> Iterator[tuple[int, str]]:
        """Yield the strings of a list, each with its position."""
        value = table.get(key, ())
        if isinstance(value, str) or not isinstance(value, (list, tuple, set, frozenset)):
            text = f"[{value!r}]" if isinstance(value, str) else "a list of strings"
            self.fault(path, f"{value!r} is not a list of strings", f"Write it as {text}")
            return
        for position, item in enumerate(value):
            if isinstance(item, str):
                yield position, item
            else:
                self.fault(f"{path}[{position}]", f"{item!r} is not a string", "Write a string")

    def string(self, table: Mapping[Any, Any], key: str, path: str) -> str:
        """Return a string; empty if it is absent or something else."""
        value = table.get(key, "")
        if isinstance(value, str):
            return value
        self.fault(path, f"{value!r} is not a string", "Write a string")
        return ""

    def boolean(self, table: Mapping[Any, Any], key: str, path: str) -> bool:
        """Return a boolean; False if it is absent."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            self.fault(path, f"{value!r} is not a boolean", "Write true or false")
        return bool(value)

    def patterns(self, table: Mapping[Any, Any], key: str) -> tuple[TypePattern, ...]:
        """Return the type patterns of a list."""
        found = []
        for position, text in self.strings(table, key, key):
            try:
                found.append(TypePattern(text))
            except IdentifierError as error:
                remedy = f"Write it as {identifier_like(text) or 'package.module:Class'!r}"
                self.fault(f"{key}[{position}]", str(error), remedy)
        return tuple(found)

    def backend_names(self, table: Mapping[Any, Any], key: str, own: object) -> tuple[str, ...]:
        """Return the names of other backends than `own` in a list."""
        found = []
        for position, name in self.strings(table, key, key):
            path = f"{key}[{position}]"
            if not is_backend_name(name):
                self.fault(
                    path,
                    f"{name!r} cannot name a backend",
                    f"Use the name of another backend's entry point, or {DEFAULT!r}",
                )
            elif name == own:
                self.fault(path, "a backend has no order with itself", "Remove the name")
            else:
                found.append(name)
        return tuple(found)

    def requirements(self, table: Mapping[Any, Any], key: str, path: str) -> tuple[str, ...]:
        """Return the requirements of a list; what follows the name is read when it is needed."""
        strings = self.strings(table, key, path)
        return tuple(
            text for number, text in strings if self.is_requirement(text, f"{path}[{number}]")
        )

    def is_requirement(self, text: str, path: str) -> bool:
        """Whether a string may be a requirement; reports a fault if not."""
        if text[:1].isascii() and text[:1].isalnum():
            return True
        self.fault(
            path,
            f"{text!r} is not a requirement",
            "Write the name of a distribution, and perhaps versions: 'torch>=2.1'",
        )
        return False

    def variants(self, table: Mapping[Any, Any], key: str, path: str) -> tuple[Variant, ...]:
        """Return the variants of a function."""
        found = []
        given = table.get(key, ())
        if not isinstance(given, (list, tuple)):
            self.fault(path, f"{given!r} is not a list of tables", _VARIANT)
            return ()
        for position, entry in enumerate(given):
            place = f"{path}[{position}]"
            if not isinstance(entry, Mapping):
                self.fault(place, f"{entry!r} is not a table", _VARIANT)
                continue
            self.check_keys(entry, VARIANT_TABLE, f"{place}.")
            for missing in [each for each in VARIANT_TABLE if each not in entry]:
                self.fault(f"{place}.{missing}", "the field is missing", _VARIANT)
            values = self.values(entry, VARIANT_TABLE, f"{place}.")
            if values.keys() == VARIANT_TABLE.keys():
                found.append(Variant(**values))
        return tuple(found)

    def requirement(self, table: Mapping[Any, Any], key: str, path: str) -> str:
        """Return a requirement; empty if it is none."""
        text = self.string(table, key, path)
        return text if self.is_requirement(text, path) else ""

    def is_identifier(self, text: Any, path: str, key: str = "") -> bool:
        """Whether `text` is an identifier; reports a fault at ``path + key`` if not."""
        # The path is joined only for a fault: a description may have thousands of functions.
        if type(text) is str and text in self._valid:
            return True
        try:
            split_identifier(text)
        except IdentifierError as error:
            remedy = f"Write it as {identifier_like(text) or 'package.module:function'!r}"
            self.fault(path + key, str(error), remedy)
            return False
        self._valid.add(text)
        return True


def _meant(key: object, names: Iterable[str]) -> list[str]:
    """Return the fields that a key misspells, or of whose names it is a part."""
    names = list(names)
    text = str(key).casefold()
    parts = [name for name in names if len(text) >= _SHORTEST and text in name]
    return nearest(key, names, MISSPELLED) or parts


_READERS: dict[str, Callable[[FieldReader, Mapping[Any, Any], str, str], Any]] = {
    "boolean": FieldReader.boolean,
    "string": FieldReader.string,
    "list of modules": lambda reader, *place: tuple(text for _, text in reader.strings(*place)),
    "list of requirements": FieldReader.requirements,
    "list of variants": FieldReader.variants,
    "requirement": FieldReader.requirement,
    "list of type patterns": lambda reader, table, key, _: reader.patterns(table, key),
    "list of backend names": lambda reader, table, key, _: reader.backend_names(
        table, key, table.get("name")
    ),
}
"""How the value of each simple kind is read, with its key path."""
