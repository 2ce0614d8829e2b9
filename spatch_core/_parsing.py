"""The validator: turns a mapping or an object into a `Description`, or reports all its faults.

`parse_description` is the only validator; discovery and the tools use it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from ._description import (
    ALL_FIELDS,
    AUTO_GENERATION,
    AUTO_GENERATION_TABLE,
    DEFAULTS,
    EVERY,
    FIELD_TABLE,
    FUNCTION_TABLE,
    NEEDED,
    NO_FUNCTIONS,
    REQUIRED,
    TABLE,
    VARIANT_TABLE,
    VARIANTS,
    AutoGeneration,
    Description,
    Finding,
    GivenCallable,
    Implementation,
    Source,
    Variant,
    reason_to_skip,
)
from ._errors import in_words, nearest, shortened
from ._patterns import (
    DEFAULT,
    TypePattern,
    is_backend_name,
    is_identifier,
    is_type_pattern,
    split_identifier,
)
from .exceptions import DescriptionError, IdentifierError


def parse_description(
    fields: Any,
    source: Source,
    expected_name: str | None = None,
    in_code: bool = False,
    functions: Collection[str] = (),
) -> Description:
    """Check the fields of a description, a mapping or an object that has them as attributes.

    Faults say that they come from `source`. `expected_name` is the name of the entry point, which
    the description must repeat; `in_code` says that the library itself passed it. A table of
    functions that only has ``get`` is asked for `functions`. Raises `DescriptionError` with every
    fault, also for what the object raises; unknown keys are the `problems` of the description.
    """
    try:
        fields, is_asked = _as_mapping(fields, functions)
        name = fields.get("name")
        reader = _Reader(expected_name or (name if isinstance(name, str) else "?"), source, name)
        values = reader.description(fields, expected_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a third party's attributes
        message = f"reading its fields failed with {in_words(error)}"
        remedy = "Repair or uninstall the distribution"
        fault = reason_to_skip(message, remedy, expected_name or "?", source=source)
        raise DescriptionError([fault]) from None
    if any(problem.skips for problem in reader.problems):
        # Faults that skip the backend go first, because a warning shows only the first one.
        raise DescriptionError(sorted(reader.problems, key=lambda problem: not problem.skips))
    return Description(
        **values,
        name=name,
        source=source,
        in_code=in_code,
        problems=tuple(reader.problems),
        is_asked=is_asked,
    )


def _as_mapping(fields: Any, functions: Collection[str]) -> tuple[Mapping[Any, Any], bool]:
    """Return the fields of a mapping or an object, and whether functions were asked for."""
    if not isinstance(fields, Mapping):
        # An object may have other attributes, unless they look like misspelled fields. A module may
        # well have a `function`, which is a field of another table.
        others = [name for name in getattr(fields, "__dict__", ()) if name not in ALL_FIELDS]
        misspelled = [name for name in others if nearest(name, FIELD_TABLE, _MISSPELLED)]
        fields = {
            name: getattr(fields, name)
            for name in (*FIELD_TABLE, *misspelled)
            if hasattr(fields, name)
        }
    table: Any = fields.get("functions")
    is_asked = not isinstance(table, Mapping) and callable(getattr(table, "get", None))
    if is_asked:
        # For functions alone: a `get` of a test may take apart the identifier that it is given.
        asked = {key: table.get(key) for key in functions}
        found = {key: entry for key, entry in asked.items() if entry is not None}
        fields = {**fields, "functions": found}
    return fields, is_asked


_LISTS = {
    "list of type patterns": "type pattern",
    "backend name or list of them": "other backend",
    "list of requirements": "requirement",
    "module or list of modules": "string",
    "list of variants": "variant",
}
"""The kinds of lists, with the kinds of their items."""
WEB_ADDRESS = r"(?:https?://[A-Za-z0-9][A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*)?"
"""Empty, or with the characters of RFC 3986, none of which ends a link in HTML or docstrings."""
_MISSPELLED = 0.85
"""The least similarity to a field's name at which a key counts as a misspelling.

Misspellings warn. Other unknown keys may belong to a later version of this package.
"""


class _Reader:
    """Reads the fields of one description, and collects every fault with its key path."""

    def __init__(self, backend: str, source: Source, name: object) -> None:
        self.backend = backend  # for the messages
        self.source = source
        self.name = name
        self.problems: list[Finding] = []

    def fault(self, path: str, message: str, remedy: str) -> None:
        """Report a fault at a key path such as ``functions."lib:fn".function``."""
        message, remedy, path = map(shortened, (message, remedy, path))
        self.problems.append(reason_to_skip(message, remedy, self.backend, path, self.source))

    # Tables

    def description(self, fields: Mapping[Any, Any], expected_name: str | None) -> dict[str, Any]:
        """Return the values of all fields but the name."""
        if self.name is None:
            self.fault("name", "the field is missing", "Add the name of the entry point")
        elif not is_backend_name(self.name) or self.name == DEFAULT:
            self.fault(
                "name",
                f"{self.name!r} cannot name a backend",
                "Use letters, digits, '_', '.' and '-'; 'default' is the library's own name",
            )
        elif expected_name is not None and self.name != expected_name:
            self.fault(
                "name",
                f"the description says {self.name!r}, its entry point {expected_name!r}",
                "Give both the same name",
            )
        if fields.get("primary_types", ()) in ([], (), set()):
            self.fault(
                "primary_types",
                "the list is empty" if "primary_types" in fields else "the field is missing",
                "Name at least one type that the backend works with, e.g. ['numpy:ndarray']",
            )
        values = self.values(fields, FIELD_TABLE)
        for name in values.get("higher_priority_than", ()):
            if name in values.get("lower_priority_than", ()):
                self.fault(
                    "lower_priority_than",
                    f"{name!r} is in higher_priority_than too",
                    "Remove it from one of the two",
                )
        # Reported at the missing field, because the given one may have a fault of its own.
        given = {key for key in fields if fields[key] is not None}
        for needed, key in {
            needed: key for key, needed in NEEDED if key in given and needed not in given
        }.items():
            self.fault(
                needed,
                f"the field is missing, and {key!r} is given: conversions go both ways",
                f"Add {needed}, or remove {key}",
            )
        attributes = {}
        for name, value in self.table(fields, "attributes", "attributes").items():
            path = f'attributes."{name}"'
            if name in ALL_FIELDS:  # a field below the header of this table
                self.misplaced(name, path)
            elif self.checked("identifier", name, path) and self.checked("identifier", value, path):
                attributes[name] = value
        return {
            **values,
            "attributes": MappingProxyType(attributes),
            **self.functions(self.table(fields, "functions", "functions")),
        }

    def functions(self, functions: Mapping[Any, Any]) -> dict[str, Any]:
        """Return the implementations, and the data of the update tool."""
        path = f"functions.{DEFAULTS}"
        defaults = self.values(self.table(functions, DEFAULTS, path), FUNCTION_TABLE, path)
        found: dict[str, Implementation] = {}
        # Copied in one step: another thread may be adding functions to a table in code.
        for identifier, entry in [*functions.items()]:
            path = f'functions."{identifier}"'
            if identifier in (DEFAULTS, AUTO_GENERATION):
                continue
            if identifier != EVERY:
                if isinstance(identifier, str) and not {":", "."} & {*identifier}:
                    self.check_key(functions, identifier, NO_FUNCTIONS, path)
                    continue
                if not self.checked("identifier", identifier, path):
                    continue
            if not isinstance(entry, Mapping):
                remedy = "Write function = 'module:qualname'"
                if isinstance(entry, list) and entry and isinstance(entry[0], Mapping):
                    remedy = f"Write [{path}], with one pair of brackets"
                self.fault(path, f"{entry!r} is not a table", remedy)
                continue
            has_variants = entry.get(VARIANTS, defaults.get(VARIANTS))
            others = {"function": "", **defaults} if has_variants else defaults
            fields = self.record(entry, FUNCTION_TABLE, path, others)
            if fields is not None:
                found[identifier] = Implementation(**fields)
        every = found.pop(EVERY, None)
        if every is not None:
            every = every._replace(uses_context=True)  # it says which function is called
        path = f"functions.{AUTO_GENERATION}"
        table = self.table(functions, AUTO_GENERATION, path)
        generation = self.record(table, AUTO_GENERATION_TABLE, path) if table else None
        return {
            "functions": MappingProxyType(found),
            "every": every,
            "auto_generation": None if generation is None else AutoGeneration(**generation),
        }

    def table(self, table: Mapping[Any, Any], key: str, path: str) -> Mapping[Any, Any]:
        """Return a table; empty if it is absent or not a table."""
        value = table.get(key, {})
        if isinstance(value, Mapping):
            return value
        self.fault(path, f"{value!r} is not a table", "Make it a table")
        return {}

    def record(
        self,
        table: Mapping[Any, Any],
        fields: Mapping[str, tuple[str, str, str]],
        path: str,
        others: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Any] | None:
        """Return the values of a table and `others`; None without a valid value of each field."""
        found = {**others, **self.values(table, fields, path)}
        wanted = [key for key in fields if fields[key][1] == REQUIRED and key not in found]
        for key in wanted:
            if key not in table:
                example = "torch>=1.12" if fields[key][0] == "requirement" else "module:qualname"
                self.fault(f"{path}.{key}", "the field is missing", f"Add {key} = {example!r}")
        return None if wanted else found

    def values(
        self, table: Mapping[Any, Any], fields: Mapping[str, tuple[str, str, str]], path: str = ""
    ) -> dict[str, Any]:
        """Return the valid values of a table, but for its name and for tables in it."""
        prefix = f"{path}." if path else ""
        for key in table:
            if key not in fields:
                self.check_key(table, key, fields, f"{prefix}{key}")
        found: dict[str, Any] = {}
        for key, (kind, default, _) in fields.items():
            if key not in table or kind in ("backend name", TABLE):
                continue
            value = table[key]
            if value is not None or default != "none":
                value = self.value(kind, value, prefix + key)
                if value is None:
                    continue
            found[key] = value
        return found

    # Values: each method returns a valid one, or reports a fault and returns None

    def value(self, kind: str, value: Any, path: str) -> Any:
        """Return a value of a kind, or the tuple of the valid items of a list."""
        if kind == "identifier" and callable(value):
            return _identified(value)
        if kind not in _LISTS:
            return self.checked(kind, value, path)
        if isinstance(value, str) and " or list of " in kind:
            value = [value]
        if not isinstance(value, (list, tuple, set, frozenset)):
            text = "a list of strings"
            if isinstance(value, str):
                is_dotted = "type" in kind and ":" not in value
                text = str([_with_colon(value) if is_dotted else value])
            if kind == "list of variants":
                self.fault(path, f"{value!r} is not a list of tables", _VARIANT)
            else:
                self.fault(path, f"{value!r} is not a list of strings", f"Write it as {text}")
            return None
        found = []
        for position, item in enumerate(value):
            place = f"{path}[{position}]"
            valid = self.checked(_LISTS[kind], item, place)
            if valid is None:
                continue
            if kind == "backend name or list of them" and valid == self.name:
                self.fault(place, "a backend cannot precede itself", "Remove the name")
            else:
                found.append(valid)
        return tuple(found)

    def checked(self, kind: str, value: Any, path: str) -> Any:
        """Return a single value of a kind."""
        if kind in ("identifier", "type pattern"):
            try:
                if kind == "type pattern":
                    return TypePattern(value)
                split_identifier(value)
                return str(value)
            except IdentifierError as error:
                like = _with_colon(str(value))
                example = "package.module:" + ("Class" if kind == "type pattern" else "function")
                remedy = f"Write it as {(like if is_type_pattern(like) else example)!r}"
                self.fault(path, str(error), remedy)
                return None
        is_valid, fault, remedy = _CHECKS[kind]
        if not is_valid(value):
            self.fault(path, f"{value!r} {fault}", remedy)
            return None
        if kind == "variant":
            fields = self.record(value, VARIANT_TABLE, path)
            return None if fields is None else Variant(**fields)
        return bool(value) if kind == "boolean, 0 or 1" else value

    # Unknown keys: misspelled, misplaced, or fields of a later version

    def check_key(
        self, table: Mapping[Any, Any], key: object, known: Collection[str], path: str
    ) -> None:
        """Report a key of a table that is not among the `known` ones.

        A field of another table is a fault, because the backend would be used without that field.
        Any other key is ignored: a later version may know it.
        """
        value = table[key]
        kind, _ = ALL_FIELDS.get(key, ("", ""))
        if kind and (kind == TABLE) == isinstance(value, Mapping):
            self.misplaced(key, path)
            return
        message = f"there is no field {str(key)!r}; it is ignored, and the backend "
        remedy = "Remove it, or update spatch-core if a later version knows it"
        text, others = str(key).casefold(), [name for name in known if name not in table]
        # Such as `opt_in`; a shorter key is part of too many names.
        parts = [name for name in others if len(text) > 3 and text in name]
        meant = nearest(text, others, _MISSPELLED) or parts
        is_function = not meant and (is_identifier(key) or _has_function(value))
        if meant:
            remedy = f"Did you mean {meant[0]!r}?"
        elif is_function:
            remedy = 'Write the table of a function as [functions."module:qualname"], with quotes'
        message += "needs no opt-in" if meant[:1] == ["requires_opt_in"] else "is used without it"
        warns = bool(meant) or is_function
        self.problems.append(Finding(message, remedy, self.backend, path, self.source, warns=warns))
        if isinstance(value, Mapping) and "requires_opt_in" in value:  # else it would run unasked
            self.misplaced("requires_opt_in", f"{path}.requires_opt_in")

    def misplaced(self, key: object, path: str) -> None:
        """Report a field in a table where it has no effect."""
        message = f"the field {str(key)!r} has no effect in this table"
        self.fault(path, message, f"Write it {ALL_FIELDS[key][1]}")


# The kinds of single values


def _with_colon(name: str) -> str:
    """Return a name with dots alone, as Python writes it, with a colon for the last one."""
    return ":".join(name.rsplit(".", 1))


def _is_flag(value: Any) -> bool:
    # Numbers, as the public `spatch` package accepts them.
    return isinstance(value, bool) or (type(value) in (int, float) and value in (0, 1))


def _is_requirement(value: Any) -> bool:
    """Whether a value may be a requirement, which is parsed only when needed."""
    return isinstance(value, str) and value[:1].isascii() and value[:1].isalnum()


def _is_web_address(value: Any) -> bool:
    import re  # few descriptions have an address

    return isinstance(value, str) and re.fullmatch(WEB_ADDRESS, value) is not None


_BOOLEAN = "is not a boolean", "Write true or false"
_VARIANT = "Write {requires = 'torch>=1.12', function = 'module:qualname'}"
_CHECKS: dict[str, tuple[Callable[[Any], bool], str, str]] = {
    "string": (lambda value: isinstance(value, str), "is not a string", "Write a string"),
    "boolean": (lambda value: isinstance(value, bool), *_BOOLEAN),
    "boolean, 0 or 1": (_is_flag, *_BOOLEAN),
    "variant": (lambda value: isinstance(value, Mapping), "is not a table", _VARIANT),
    "other backend": (
        is_backend_name,
        "cannot name a backend",
        f"Use the name of another backend's entry point, or {DEFAULT!r}",
    ),
    "requirement": (
        _is_requirement,
        "is not a requirement",
        "Write the name of a distribution, and perhaps versions: 'torch>=2.1'",
    ),
    "web address": (
        _is_web_address,
        "is not a web address",
        "Write 'https://...' or 'http://...', other characters than ASCII as '%C3%BC'",
    ),
}
"""What is valid, what a wrong value is not, and the remedy."""


def _identified(given: Callable[..., Any]) -> GivenCallable:
    """Return the identifier of a callable, made from its name or its class's name."""
    named = given if hasattr(given, "__qualname__") else type(given)
    # Ufuncs of older NumPy versions have no `__module__`.
    module = getattr(given, "__module__", None) or "?"
    identifier = GivenCallable(f"{module}:{named.__qualname__}")
    identifier.given = given
    return identifier


def _has_function(value: object) -> bool:
    """Whether a function's table is in a value: without quotes, ``[lib.fn]`` is two tables."""
    return isinstance(value, Mapping) and (
        "function" in value or any(map(_has_function, value.values()))
    )
