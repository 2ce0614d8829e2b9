"""The fields of a description: the validator, the schema and the documentation use these tables."""

from __future__ import annotations

FIELD_TABLE = {
    "name": (
        "backend name",
        "required",
        "equals the entry point's name; letters, digits, `_`, `.`, `-`; not `default`",
    ),
    "primary_types": (
        "list of type patterns",
        "required",
        "types it works with and returns; at least one",
    ),
    "secondary_types": ("list of type patterns", "`[]`", "types it accepts, and converts"),
    "requires_opt_in": ("boolean", "`false`", "inactive until it is prioritized"),
    "higher_priority_than": (
        "list of backend names",
        "`[]`",
        "backends that it goes before; `default` is the library",
    ),
    "lower_priority_than": ("list of backend names", "`[]`", "backends that it goes after"),
    "functions": ("table", "`{}`", "the functions that it implements, and the tables below"),
}
"""The type, the default and the meaning of each field."""
FUNCTION_TABLE = {
    "function": ("identifier", "required", "the implementation"),
    "should_run": (
        "identifier",
        "none",
        (
            "is asked first, with a `DispatchContext` and the arguments; exactly `True` runs the "
            "implementation, anything else defers, a string being the reason"
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
}
AUTO_GENERATION_TABLE = {
    "backend": ("identifier", "required", "the `BackendImplementation`"),
    "modules": ("list of modules", "`[]`", "imported first, so that every function is registered"),
}
FIELDS = tuple(FIELD_TABLE)
FUNCTION_FIELDS = tuple(FUNCTION_TABLE)
AUTO_GENERATION_FIELDS = tuple(AUTO_GENERATION_TABLE)

DEFAULTS = "defaults"
AUTO_GENERATION = "auto-generation"
NO_FUNCTIONS = (DEFAULTS, AUTO_GENERATION)
"""Tables below ``functions`` that describe no function."""
