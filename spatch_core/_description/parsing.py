"""The validator of descriptions: from a mapping or an object to a `Description`, or all faults.

`parse_description` is the only one: discovery and the tools use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .._identifiers import DEFAULT, is_backend_name, nearest
from .._problems import Source
from .._type_patterns import TypePattern
from ..exceptions import DescriptionError
from .description import AutoGeneration, Description, Implementation
from .field_reader import MISSPELLED, FieldReader
from .fields import (
    AUTO_GENERATION,
    AUTO_GENERATION_FIELDS,
    DEFAULTS,
    FIELDS,
    FUNCTION_FIELDS,
    NO_FUNCTIONS,
)


def parse_description(
    fields: Any, source: Source, expected_name: str | None = None, in_code: bool = False
) -> Description:
    """Check the fields of a description.

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
        # An object may have any other attributes, unless they look like misspelled fields.
        others = [name for name in getattr(fields, "__dict__", ()) if name not in FIELDS]
        misspelled = [name for name in others if nearest(name, FIELDS, MISSPELLED)]
        fields = {
            name: getattr(fields, name) for name in (*FIELDS, *misspelled) if hasattr(fields, name)
        }
    reader = _DescriptionReader(fields, source, expected_name)
    description = reader.read(in_code)
    if reader.problems:
        raise DescriptionError(reader.problems)
    return description


class _DescriptionReader(FieldReader):
    """Reads the fields of one description."""

    def __init__(
        self, fields: Mapping[Any, Any], source: Source, expected_name: str | None
    ) -> None:
        name = fields.get("name")
        super().__init__(expected_name or (name if isinstance(name, str) else "?"), source)
        self.fields = fields
        self.expected_name = expected_name

    def read(self, in_code: bool) -> Description:
        self.check_keys(self.fields, FIELDS, "")
        own = self.fields.get("name")
        higher = self.backend_names(self.fields, "higher_priority_than", own)
        lower = self.backend_names(self.fields, "lower_priority_than", own)
        self.check_priorities(higher, lower)
        return Description(
            name=self.name(),
            primary_types=self.primary_types(),
            secondary_types=self.patterns(self.fields, "secondary_types"),
            requires_opt_in=self.boolean(self.fields, "requires_opt_in", "requires_opt_in"),
            higher_priority_than=higher,
            lower_priority_than=lower,
            functions=self.functions(),
            auto_generation=self.auto_generation(),
            source=self.source,
            in_code=in_code,
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

    def primary_types(self) -> tuple[TypePattern, ...]:
        key = "primary_types"
        found = self.patterns(self.fields, key)
        if self.fields.get(key, ()) in ([], (), set()):
            self.fault(
                key,
                "the list is empty" if key in self.fields else "the field is missing",
                "Name at least one type that the backend works with, e.g. ['numpy:ndarray']",
            )
        return found

    def check_priorities(self, higher: tuple[str, ...], lower: tuple[str, ...]) -> None:
        for name in higher:
            if name in lower:
                self.fault(
                    "lower_priority_than",
                    f"{name!r} is in higher_priority_than too",
                    "Remove it from one of the two",
                )

    def functions(self) -> Mapping[str, Implementation]:
        functions = self.table(self.fields, "functions", "functions")
        path = f"functions.{DEFAULTS}"
        defaults = self.implementation_fields(self.table(functions, DEFAULTS, path), path)
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
                self.fault(
                    path,
                    "it is neither an identifier nor a known table",
                    f"Did you mean {meant[0]!r}?",
                )
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
        """Return the valid fields of one function, or of the defaults; only those given."""
        self.check_keys(entry, FUNCTION_FIELDS, path + ".")
        fields: dict[str, Any] = {}
        for key in ("function", "should_run"):
            if key in entry and self.is_identifier(entry[key], path, f".{key}"):
                fields[key] = entry[key]
        if "uses_context" in entry:
            fields["uses_context"] = self.boolean(entry, "uses_context", f"{path}.uses_context")
        if "additional_docs" in entry:
            docs = self.string(entry, "additional_docs", f"{path}.additional_docs")
            fields["additional_docs"] = docs
        return fields

    def auto_generation(self) -> AutoGeneration | None:
        functions = self.fields.get("functions", {})
        if not isinstance(functions, Mapping):
            return None  # `functions` reports it
        path = f"functions.{AUTO_GENERATION}"
        table = self.table(functions, AUTO_GENERATION, path)
        if not table:
            return None
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
