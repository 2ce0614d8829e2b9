"""The validator of descriptions: from a mapping or an object to a `Description`, or all faults.

`parse_description` is the only one: discovery and the tools use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from .._identifiers import DEFAULT, is_backend_name, nearest, split_identifier
from .._problems import Problem, Source
from .._type_patterns import TypePattern
from ..exceptions import DescriptionError, IdentifierError
from .description import AutoGeneration, Description, Implementation
from .fields import (
    AUTO_GENERATION,
    AUTO_GENERATION_FIELDS,
    DEFAULTS,
    FIELDS,
    FUNCTION_FIELDS,
    NO_FUNCTIONS,
)

_MISSPELLED = 0.85
"""How similar a key must be to a field's name to be taken for a misspelling of it.

Others may belong to a later version of this package, and are ignored.
"""


def parse_description(
    fields: Any, source: Source, expected_name: str | None = None, in_code: bool = False
) -> Description:
    """Check what a backend says of itself.

    Parameters
    ----------
    fields : mapping or object
        A mapping with the fields as keys, or an object with them as attributes.
    source : Source
        Where `fields` comes from, for the messages.
    expected_name : str, optional
        The name of the entry point, which the description must repeat.
    in_code : bool, optional
        Whether the library itself passed it.

    Returns
    -------
    Description
        The description, immutable.

    Raises
    ------
    DescriptionError
        With every fault that was found.
    """
    if not isinstance(fields, Mapping):
        # An object's other attributes are its own business, unless they look like a field.
        others = [name for name in getattr(fields, "__dict__", ()) if name not in FIELDS]
        misspelled = [name for name in others if nearest(name, FIELDS, _MISSPELLED)]
        fields = {
            name: getattr(fields, name) for name in (*FIELDS, *misspelled) if hasattr(fields, name)
        }
    reader = _Reader(fields, source, expected_name)
    description = reader.read(in_code)
    if reader.problems:
        raise DescriptionError(reader.problems)
    return description


class _Reader:
    """Reads the fields of one description and collects every fault."""

    def __init__(
        self, fields: Mapping[Any, Any], source: Source, expected_name: str | None
    ) -> None:
        self.fields = fields
        self.source = source
        self.expected_name = expected_name
        name = fields.get("name")
        self.backend = expected_name or (name if isinstance(name, str) else "?")
        self.problems: list[Problem] = []
        self.checked: set[str] = set()  # identifiers; many functions share a should_run

    def fault(self, key: str, message: str, remedy: str) -> None:
        self.problems.append(Problem(message, remedy, self.backend, key, self.source))

    def read(self, in_code: bool) -> Description:
        self.check_keys(self.fields, FIELDS, "")
        higher = self.backend_names("higher_priority_than")
        lower = self.backend_names("lower_priority_than")
        self.check_priorities(higher, lower)
        return Description(
            name=self.name(),
            primary_types=self.patterns("primary_types", required=True),
            secondary_types=self.patterns("secondary_types"),
            requires_opt_in=self.boolean(self.fields, "requires_opt_in", "requires_opt_in"),
            higher_priority_than=higher,
            lower_priority_than=lower,
            functions=self.functions(),
            auto_generation=self.auto_generation(),
            source=self.source,
            in_code=in_code,
        )

    def check_keys(self, table: Mapping[Any, Any], known: tuple[str, ...], path: str) -> None:
        """Report misspelled keys; others may belong to a later version of this package."""
        for key in table:
            if key not in known:
                meant = [name for name in nearest(key, known, _MISSPELLED) if name not in table]
                if meant:
                    self.fault(
                        path + str(key),
                        f"there is no field {str(key)!r}",
                        f"Did you mean {meant[0]!r}?",
                    )

    def name(self) -> str:
        name = self.fields.get("name")
        if name is None:
            self.fault("name", "the field is missing", "Add the name of the entry point")
        elif not is_backend_name(name) or name == DEFAULT:
            self.fault(
                "name",
                f"{name!r} cannot name a backend",
                "Use letters, digits, '_', '.' and '-'; 'default' is the library's own name",
            )
        elif self.expected_name is not None and name != self.expected_name:
            self.fault(
                "name",
                f"the description says {name!r}, its entry point {self.expected_name!r}",
                "Give both the same name",
            )
        return str(name)

    def patterns(self, key: str, required: bool = False) -> tuple[TypePattern, ...]:
        found = []
        for position, text in self.strings(self.fields, key, key):
            try:
                found.append(TypePattern(text))
            except IdentifierError as error:
                self.fault(f"{key}[{position}]", str(error), "Write it as 'package.module:Class'")
        if required and self.fields.get(key, ()) in ([], (), set()):
            self.fault(
                key,
                "there is no type in it" if key in self.fields else "the field is missing",
                "Name at least one type that the backend works with, e.g. ['numpy:ndarray']",
            )
        return tuple(found)

    def backend_names(self, key: str) -> tuple[str, ...]:
        found = []
        for position, name in self.strings(self.fields, key, key):
            if not is_backend_name(name):
                self.fault(
                    f"{key}[{position}]",
                    f"{name!r} cannot name a backend",
                    "Use the name of another backend's entry point, or 'default'",
                )
            elif name == self.fields.get("name"):
                self.fault(
                    f"{key}[{position}]", "a backend has no order with itself", "Remove the name"
                )
            else:
                found.append(name)
        return tuple(found)

    def check_priorities(self, higher: tuple[str, ...], lower: tuple[str, ...]) -> None:
        for name in higher:
            if name in lower:
                self.fault(
                    "lower_priority_than",
                    f"{name!r} stands in higher_priority_than too",
                    "Remove it from one of the two",
                )

    def functions(self) -> Mapping[str, Implementation]:
        functions = self.table("functions")
        path = f"functions.{DEFAULTS}"
        defaults = self.implementation_fields(self.subtable(functions, DEFAULTS), path)
        found = {}
        for identifier, entry in functions.items():
            if identifier in NO_FUNCTIONS:
                continue
            path = f'functions."{identifier}"'
            meant = (
                nearest(identifier, NO_FUNCTIONS)
                if isinstance(identifier, str) and ":" not in identifier
                else []
            )
            if meant:
                self.fault(path, "it is no function", f"Did you mean {meant[0]!r}?")
                continue
            if not self.is_identifier(identifier, path):
                continue
            if not isinstance(entry, Mapping):
                self.fault(path, f"{entry!r} is not a table", "Write function = 'module:qualname'")
                continue
            fields = {**defaults, **self.implementation_fields(entry, path)}
            if "function" in fields:
                found[identifier] = Implementation(**fields)
            elif "function" not in entry:
                self.fault(
                    f"{path}.function",
                    "the field is missing",
                    "Name the implementation as 'module:qualname'",
                )
        return MappingProxyType(found)

    def implementation_fields(self, entry: Mapping[Any, Any], path: str) -> dict[str, Any]:
        """Return those fields of one function, or of the defaults, that have no fault."""
        self.check_keys(entry, FUNCTION_FIELDS, path + ".")
        fields: dict[str, Any] = {}
        for key in ("function", "should_run"):
            if key in entry and self.is_identifier(entry[key], path, f".{key}"):
                fields[key] = entry[key]
        if "uses_context" in entry:
            fields["uses_context"] = self.boolean(entry, "uses_context", f"{path}.uses_context")
        docs = entry.get("additional_docs")
        if isinstance(docs, str):
            fields["additional_docs"] = docs
        elif "additional_docs" in entry:
            self.fault(f"{path}.additional_docs", f"{docs!r} is not a string", "Write a string")
        return fields

    def auto_generation(self) -> AutoGeneration | None:
        table = self.subtable(self.table("functions", report=False), AUTO_GENERATION)
        if not table:
            return None
        path = f"functions.{AUTO_GENERATION}"
        self.check_keys(table, AUTO_GENERATION_FIELDS, path + ".")
        backend = table.get("backend")
        if backend is None:
            self.fault(
                f"{path}.backend",
                "the field is missing",
                "Name the BackendImplementation as 'module:qualname'",
            )
        else:
            self.is_identifier(backend, path, ".backend")
        modules = tuple(name for _, name in self.strings(table, "modules", f"{path}.modules"))
        return AutoGeneration(str(backend), modules)

    def table(self, key: str, report: bool = True) -> Mapping[Any, Any]:
        value = self.fields.get(key, {})
        if isinstance(value, Mapping):
            return value
        if report:
            self.fault(key, f"{value!r} is not a table", "Make it a table")
        return {}

    def subtable(self, table: Mapping[Any, Any], key: str) -> Mapping[Any, Any]:
        value = table.get(key, {})
        if isinstance(value, Mapping):
            return value
        self.fault(f"functions.{key}", f"{value!r} is not a table", "Make it a table")
        return {}

    def strings(self, table: Mapping[Any, Any], key: str, path: str) -> Iterator[tuple[int, str]]:
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

    def boolean(self, table: Mapping[Any, Any], key: str, path: str) -> bool:
        value = table.get(key, False)
        if not isinstance(value, bool):
            self.fault(path, f"{value!r} is not a boolean", "Write true or false")
        return bool(value)

    def is_identifier(self, text: Any, path: str, key: str = "") -> bool:
        """Whether `text` is an identifier; it is a fault if not."""
        if type(text) is str and text in self.checked:
            return True
        try:
            split_identifier(text)
        except IdentifierError as error:
            self.fault(path + key, str(error), "Write it as 'package.module:function'")
            return False
        self.checked.add(text)
        return True
