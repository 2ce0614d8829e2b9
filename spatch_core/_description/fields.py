"""The fields of a description: validator, schema and documentation read these tables.

A field is added in its table here and in the class that holds it, in `description`. Each field has
its kind, its default and its meaning. `FieldReader` has a method for each kind, and the schema a
definition.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

REQUIRED = "required"
"""The default of a field that must be given."""

FIELD_TABLE = {
    "name": (
        "backend name",
        REQUIRED,
        "equals the entry point's name; letters, digits, `_`, `.`, `-`; not `default`",
    ),
    "primary_types": (
        "list of type patterns",
        REQUIRED,
        "types that it works with and returns; at least one",
    ),
    "secondary_types": ("list of type patterns", "`[]`", "types that it accepts but converts"),
    "requires_opt_in": ("boolean", "`false`", "whether it is inactive until it is prioritized"),
    "higher_priority_than": (
        "list of backend names",
        "`[]`",
        "backends that it goes before; `default` is the library",
    ),
    "lower_priority_than": ("list of backend names", "`[]`", "backends that it goes after"),
    "to_default": (
        "identifier",
        "none",
        (
            "converts one object of a primary type to one of the library's types, for functions "
            "that it does not implement; needs `from_default`; returns None if it cannot"
        ),
    ),
    "from_default": ("identifier", "none", "converts one object of the library's types back"),
    "copy_into": (
        "identifier",
        "none",
        (
            "`copy_into(original, converted)` copies the content of a converted argument, into "
            "which the library has written, back into the original"
        ),
    ),
    "requires": (
        "list of requirements",
        "`[]`",
        "distributions without which it is inactive, such as `cupy-cuda12x` or `torch>=2.1`",
    ),
    "url": (
        "web address",
        "empty",
        "the backend's documentation, linked from the library's: `https://` or `http://`",
    ),
    "functions": ("table", "`{}`", "the functions that it implements, and the tables below"),
    "attributes": (
        "table",
        "`{}`",
        "identifiers of its values for attributes of the library's modules",
    ),
}
"""The type, the default and the meaning of each field."""
FUNCTION_TABLE = {
    "function": ("identifier", REQUIRED, "the implementation"),
    "should_run": (
        "identifier",
        "none",
        (
            "decides on a call, given a `DispatchContext` and the arguments: exactly `True` runs "
            "the implementation, `IF_NEEDED` runs it if no other backend does, anything else "
            "defers; a string is the reason"
        ),
    ),
    "uses_context": (
        "boolean",
        "`false`",
        "whether the implementation takes a `DispatchContext` as its first argument",
    ),
    "additional_docs": (
        "string",
        "empty",
        "shown in the section *Backends* of the function's docstring",
    ),
    "variants": (
        "list of variants",
        "`[]`",
        (
            'implementations by requirement, such as `{requires = "torch>=1.12", function = '
            '"m:f"}`: the first one whose requirement is met replaces `function`'
        ),
    ),
}
VARIANT_TABLE = {
    "requires": ("requirement", REQUIRED, "a distribution, with versions: `torch>=1.12`"),
    "function": ("identifier", REQUIRED, "the implementation that is used if it is met"),
}
AUTO_GENERATION_TABLE = {
    "backend": ("identifier", REQUIRED, "the `BackendImplementation`"),
    "modules": (
        "module or list of modules",
        "`[]`",
        "imported first, with all their submodules, so that every function is registered",
    ),
    "variants_of": (
        "string",
        "empty",
        (
            "a distribution: functions next to an implementation `f` with names such as "
            "`f_v_1p12_and_above` become its variants"
        ),
    ),
}
FIELDS = tuple(FIELD_TABLE)
FUNCTION_FIELDS = tuple(FUNCTION_TABLE)
VARIANTS = "variants"
AUTO_GENERATION_FIELDS = tuple(AUTO_GENERATION_TABLE)

NEEDED = (
    ("to_default", "from_default"),
    ("from_default", "to_default"),
    ("copy_into", "to_default"),
)
"""Pairs of a conversion's field and another field that it needs."""

FUNCTIONS = "functions"
ATTRIBUTES = "attributes"
DEFAULTS = "defaults"
AUTO_GENERATION = "auto-generation"
EVERY = "*"
NO_FUNCTIONS = (DEFAULTS, AUTO_GENERATION, EVERY)
"""Tables below ``functions`` that do not describe a single function."""

RESTRICTING = ("requires_opt_in",)
"""Fields that keep a backend from running, and must not be ignored in the wrong place."""

TABLE = "table"
"""The kind of a field that is a table."""

_HOMES: tuple[tuple[Mapping[Any, tuple[str, str, str]], str], ...] = (
    (FIELD_TABLE, "above the first table"),
    (FUNCTION_TABLE, f"in the table of a function, or in [{FUNCTIONS}.{DEFAULTS}]"),
    (AUTO_GENERATION_TABLE, f"in [{FUNCTIONS}.{AUTO_GENERATION}]"),
    (dict.fromkeys(NO_FUNCTIONS, (TABLE, "", "")), f"below {FUNCTIONS}"),
)
"""Every table with its fields, and where it stands in a file."""


def kind_of(field: object) -> str:
    """Return the kind of a field of any table; empty for an unknown one."""
    return next((table[field][0] for table, _ in _HOMES if field in table), "")


def place_of(field: object) -> str:
    """Return where a field has an effect; empty for an unknown one.

    >>> place_of("requires_opt_in")
    'above the first table'
    """
    return next((place for table, place in _HOMES if field in table), "")


def all_fields() -> tuple[str, ...]:
    """Return the fields of all tables."""
    return tuple(field for table, _ in _HOMES for field in table)
