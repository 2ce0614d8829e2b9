"""The validator: turns a mapping or an object into a `Description`, or reports all its faults.

`parse_description` is the only validator; discovery and the tools use it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from .._identifiers import DEFAULT, is_backend_name
from .._reporting.errors import DescriptionError
from .._reporting.problems import Source
from .callables import as_mapping
from .description import AutoGeneration, Description, Implementation
from .field_reader import FieldReader
from .fields import (
    ATTRIBUTES,
    AUTO_GENERATION,
    AUTO_GENERATION_TABLE,
    DEFAULTS,
    EVERY,
    FIELD_TABLE,
    FUNCTION_TABLE,
    NEEDED,
    NO_FUNCTIONS,
    VARIANTS,
    kind_of,
)


def parse_description(
    fields: Any,
    source: Source,
    expected_name: str | None = None,
    in_code: bool = False,
    functions: Collection[str] = (),
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
    functions : collection of str, optional
        Identifiers of functions of the library, for a table that only has ``get``.

    Returns
    -------
    Description
        The description, immutable; its `problems` are the unknown keys.

    Raises
    ------
    DescriptionError
        With every fault that was found.
    """
    fields = as_mapping(fields, functions)
    reader = _DescriptionReader(fields, source, expected_name)
    description = reader.read(in_code)
    if any(problem.skips for problem in reader.problems):
        # Faults that skip the backend go first, because a warning shows only the first one.
        raise DescriptionError(sorted(reader.problems, key=lambda problem: not problem.skips))
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
        self.varies = False  # whether a function has variants

    def read(self, in_code: bool) -> Description:
        self.check_keys(self.fields, FIELD_TABLE, "")
        name = self.name()
        self.check_primary_types()
        values = self.values(self.fields, FIELD_TABLE, "")
        self.check_priorities(values)
        self.check_conversions()
        functions, every = self.functions(), self.every()
        return Description(
            **{"primary_types": (), **values},
            name=name,
            functions=functions,
            attributes=self.attributes(),
            every=every,
            auto_generation=self.auto_generation(),
            source=self.source,
            in_code=in_code,
            problems=tuple(self.problems),
            varies=self.varies,
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

    def check_primary_types(self) -> None:
        key = "primary_types"
        if self.fields.get(key, ()) in ([], (), set()):
            self.fault(
                key,
                "the list is empty" if key in self.fields else "the field is missing",
                "Name at least one type that the backend works with, e.g. ['numpy:ndarray']",
            )

    def check_priorities(self, values: Mapping[str, Any]) -> None:
        for name in values.get("higher_priority_than", ()):
            if name in values.get("lower_priority_than", ()):
                self.fault(
                    "lower_priority_than",
                    f"{name!r} is in higher_priority_than too",
                    "Remove it from one of the two",
                )

    def check_conversions(self) -> None:
        # Reported at the missing field, because the given one may have a fault of its own.
        missing = {
            needed: key
            for key, needed in NEEDED
            if key in self.fields and needed not in self.fields
        }
        for needed, key in missing.items():
            self.fault(
                needed,
                f"the field is missing, and {key!r} is given: conversions go both ways",
                f"Add {needed}, or remove {key}",
            )

    def functions(self) -> Mapping[str, Implementation]:
        functions = self.table(self.fields, "functions", "functions")
        path = f"functions.{DEFAULTS}"
        table = self.table(functions, DEFAULTS, path)
        self.check_keys(table, FUNCTION_TABLE, f"{path}.")
        defaults = self.values(table, FUNCTION_TABLE, f"{path}.")
        found = {}
        # Copied in one step: another thread may be adding functions to a table in code.
        for identifier, entry in [*functions.items()]:
            if identifier in NO_FUNCTIONS:
                continue
            path = f'functions."{identifier}"'
            if isinstance(identifier, str) and not {":", "."} & {*identifier}:
                self.check_key(functions, identifier, NO_FUNCTIONS, path)
                continue
            if not self.is_identifier(identifier, path):
                continue
            if not isinstance(entry, Mapping):
                remedy = "Write function = 'module:qualname'"
                if isinstance(entry, list) and entry and isinstance(entry[0], Mapping):
                    remedy = f"Write [{path}], with one pair of brackets"
                self.fault(path, f"{entry!r} is not a table", remedy)
                continue
            fields = self.implementation_fields(entry, path, defaults)
            if "function" in fields:
                found[identifier] = Implementation(**fields)
        return MappingProxyType(found)

    def attributes(self) -> Mapping[str, str]:
        """Return the identifiers of the backend's values, by identifier of the attribute."""
        found = {}
        for name, value in self.table(self.fields, ATTRIBUTES, ATTRIBUTES).items():
            path = f'{ATTRIBUTES}."{name}"'
            if kind_of(name):  # a field below the header of this table
                self.misplaced(name, path)
            elif self.is_identifier(name, path) and self.is_identifier(value, path):
                found[name] = value
        return MappingProxyType(found)

    def every(self) -> Implementation | None:
        """Return the implementation of every function without an entry of its own."""
        functions = self.fields.get("functions", {})
        if not isinstance(functions, Mapping) or EVERY not in functions:
            return None
        path = f'functions."{EVERY}"'
        entry = self.table(functions, EVERY, path)
        silent = FieldReader(self.backend, self.source)  # `functions` reports their faults
        defaults = silent.values(
            silent.table(functions, DEFAULTS, ""), FUNCTION_TABLE, f"functions.{DEFAULTS}."
        )
        fields = self.implementation_fields(entry, path, defaults)
        if "function" not in fields:
            return None
        fields["uses_context"] = True  # the context says which function is called
        return Implementation(**fields)

    def implementation_fields(
        self, entry: Mapping[Any, Any], path: str, defaults: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the valid fields of one function; only those given, there or in the defaults."""
        self.check_keys(entry, FUNCTION_TABLE, f"{path}.")
        fields = {**defaults, **self.values(entry, FUNCTION_TABLE, f"{path}.")}
        if fields.get(VARIANTS):
            self.varies = True
            fields.setdefault("function", "")
        if "function" not in fields and "function" not in entry:
            self.fault(
                f"{path}.function",
                "the field is missing",
                "Name the implementation as 'module:qualname'",
            )
        return fields

    def auto_generation(self) -> AutoGeneration | None:
        functions = self.fields.get("functions", {})
        if not isinstance(functions, Mapping):
            return None  # `functions` reports it
        path = f"functions.{AUTO_GENERATION}"
        table = self.table(functions, AUTO_GENERATION, path)
        if not table:
            return None
        self.check_keys(table, AUTO_GENERATION_TABLE, f"{path}.")
        values = self.values(table, AUTO_GENERATION_TABLE, f"{path}.")
        if table.get("backend") is None:
            self.fault(
                f"{path}.backend",
                "the field is missing",
                "Name the BackendImplementation as 'module:qualname'",
            )
        return AutoGeneration(**{"backend": "", **values})
