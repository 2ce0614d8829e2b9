"""Reads fields of the expected types, and collects every fault with its key path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .._identifiers import DEFAULT, identifier_like, is_backend_name, split_identifier
from .._reporting.errors import IdentifierError
from .._reporting.problems import Source
from .._type_patterns import TypePattern
from .callables import identify
from .description import Variant
from .fields import VARIANT_TABLE
from .unknown_keys import KeyChecker

_VARIANT_REMEDY = "Write {requires = 'torch>=1.12', function = 'module:qualname'}"

_SCHEMES = ("https://", "http://")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_IN_ADDRESSES = _LETTERS | frozenset("-._~:/?#[]@!$&'()*+,;=%")
"""The characters of RFC 3986, none of which ends a link in HTML or reStructuredText."""


class FieldReader(KeyChecker):
    """Reads fields; a method returns a valid value even where it reports a fault.

    The parameters are those of `KeyChecker`.
    """

    def __init__(self, backend: str, source: Source) -> None:
        super().__init__(backend, source)
        # Identifiers found valid, because many functions share a `should_run`.
        self._valid: set[str] = set()

    def values(
        self, table: Mapping[Any, Any], fields: Mapping[str, tuple[str, str, str]], path: str
    ) -> dict[str, Any]:
        """Return the valid values of a table's fields of simple kinds (see `_READERS`).

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
        """Return a table; empty if it is absent or not a table."""
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
        """Return a string; empty if it is absent or not a string."""
        value = table.get(key, "")
        if isinstance(value, str):
            return value
        self.fault(path, f"{value!r} is not a string", "Write a string")
        return ""

    def web_address(self, table: Mapping[Any, Any], key: str, path: str) -> str:
        """Return a web address; empty if it is absent or invalid."""
        text = self.string(table, key, path)
        start = next((each for each in _SCHEMES if text.startswith(each)), "")
        rest = text[len(start) :]
        if not text or (start and rest[:1] in _LETTERS and {*rest} <= _IN_ADDRESSES and rest):
            return text
        self.fault(
            path,
            f"{text!r} is not a web address",
            "Write 'https://...' or 'http://...', other characters than ASCII as '%C3%BC'",
        )
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
                self.fault(path, "a backend cannot precede itself", "Remove the name")
            else:
                found.append(name)
        return tuple(found)

    def requirements(self, table: Mapping[Any, Any], key: str, path: str) -> tuple[str, ...]:
        """Return the requirements of a list; they are parsed only when needed."""
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
            self.fault(path, f"{given!r} is not a list of tables", _VARIANT_REMEDY)
            return ()
        for position, entry in enumerate(given):
            place = f"{path}[{position}]"
            if not isinstance(entry, Mapping):
                self.fault(place, f"{entry!r} is not a table", _VARIANT_REMEDY)
                continue
            self.check_keys(entry, VARIANT_TABLE, f"{place}.")
            for missing in [each for each in VARIANT_TABLE if each not in entry]:
                self.fault(f"{place}.{missing}", "the field is missing", _VARIANT_REMEDY)
            values = self.values(entry, VARIANT_TABLE, f"{place}.")
            if values.keys() == VARIANT_TABLE.keys():
                found.append(Variant(**values))
        return tuple(found)

    def modules(self, table: Mapping[Any, Any], key: str, path: str) -> tuple[str, ...]:
        """Return the modules of a list, or the only one."""
        if isinstance(table.get(key), str):
            return (table[key],)
        return tuple(text for _, text in self.strings(table, key, path))

    def requirement(self, table: Mapping[Any, Any], key: str, path: str) -> str:
        """Return a requirement; empty if it is invalid."""
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


_READERS: dict[str, Callable[[FieldReader, Mapping[Any, Any], str, str], Any]] = {
    "boolean": FieldReader.boolean,
    "string": FieldReader.string,
    "web address": FieldReader.web_address,
    "module or list of modules": FieldReader.modules,
    "list of requirements": FieldReader.requirements,
    "list of variants": FieldReader.variants,
    "requirement": FieldReader.requirement,
    "list of type patterns": lambda reader, table, key, _: reader.patterns(table, key),
    "list of backend names": lambda reader, table, key, _: reader.backend_names(
        table, key, table.get("name")
    ),
}
"""The readers of simple kinds; they take the reader, the table, the key and the key path."""
