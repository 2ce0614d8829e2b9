"""Reads fields of the expected types, and collects every fault with its key path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._identifiers import DEFAULT, is_backend_name, nearest, split_identifier
from .._problems import Problem, Source
from .._type_patterns import TypePattern
from ..exceptions import IdentifierError

MISSPELLED = 0.85
"""The least similarity of a key to a field's name that makes it a misspelling of it.

Other unknown keys may belong to a later version of this package, and are ignored.
"""


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

    def check_keys(self, table: Mapping[Any, Any], known: tuple[str, ...], path: str) -> None:
        """Report keys that look like misspellings of the `known` ones."""
        for key in table:
            if key not in known:
                meant = [name for name in nearest(key, known, MISSPELLED) if name not in table]
                if meant:
                    self.fault(
                        path + str(key),
                        f"there is no field {str(key)!r}",
                        f"Did you mean {meant[0]!r}?",
                    )

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
                self.fault(f"{key}[{position}]", str(error), "Write it as 'package.module:Class'")
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

    def is_identifier(self, text: Any, path: str, key: str = "") -> bool:
        """Whether `text` is an identifier; reports a fault at ``path + key`` if not."""
        # The path is joined only for a fault: a description may have thousands of functions.
        if type(text) is str and text in self._valid:
            return True
        try:
            split_identifier(text)
        except IdentifierError as error:
            self.fault(path + key, str(error), "Write it as 'package.module:function'")
            return False
        self._valid.add(text)
        return True
