"""The schema of backends' files: up to date, documented, and of one mind with the validator."""

from __future__ import annotations

import warnings
from typing import Any

import jsonschema
import pytest

import backend_schema
from backend_schema import make_schema
from spatch_core import BackendSystem

VALIDATOR: Any = jsonschema.Draft7Validator(make_schema())
GOOD = {"name": "gpu", "primary_types": ["m:T"]}
FUNCTION = {"function": "m:f", "should_run": "m:ask", "uses_context": True, "additional_docs": "x"}
VARIANTS = [{"requires": "numpy>=2", "function": "m:f"}]


VALUES: dict[str, list[Any]] = {
    "name": ["gpu", "x-1.y_2", "a b", "a\n", "", 1, "default"],
    "primary_types": [
        *([], "m:T", [1], ["~m:T", "@m.n:T.U"], ["m"], ["m:T\n"], ["~~m:T"], ["m:"]),
        ["a.<locals>:b"],
    ],
    "secondary_types": [[], ["m:U"], "m:U"],
    "requires_opt_in": [True, 1],
    "higher_priority_than": [["default", "other"], "other", ["a b"]],
    "to_default": ["m:f", "m", 1],
    "from_default": ["m:f"],
    "copy_into": ["m:f"],
    "requires": [["numpy"], "numpy"],
    "url": ["https://example.org/a", "example.org", "http://a b"],
    "attributes": [{"l:x": "m:y"}, {"l": "m:y"}, {"l:x": 1}, []],
    "functions": [
        *({}, [], {"*": FUNCTION}, {"defaults": FUNCTION}),
        {"auto-generation": {"backend": "m:b", "modules": ["m.n"]}},
        {"auto-generation": {"modules": ["m.n"]}},
    ],
}
FUNCTION_VALUES: list[Any] = [
    *(FUNCTION, 3, {**FUNCTION, "uses_context": False}, {**FUNCTION, "uses_context": 0}),
    *({"variants": VARIANTS}, {"variants": []}, {"variants": [{}]}, {"variants": "v"}),
    {"should_run": "m:ask"},
]


def test_the_reference_page_has_the_tables_that_are_made() -> None:
    """If not: python tools/backend_schema.py."""
    assert backend_schema.PAGE.read_text(encoding="utf-8") == backend_schema.page_text()


def test_the_stored_schema_is_the_one_that_is_made() -> None:
    """If not: python tools/backend_schema.py."""
    assert backend_schema.FILE.read_text(encoding="utf-8") == backend_schema.schema_text()
    jsonschema.Draft7Validator.check_schema(make_schema())


def test_a_wrong_value_is_found_where_it_stands() -> None:
    fields = {
        "name": "default",
        "primary_types": [],
        "functions": {"lib:fn": {"function": "nowhere"}, "lib:g": {}},
    }
    places = {"/".join(map(str, each.absolute_path)) for each in VALIDATOR.iter_errors(fields)}
    assert places == {
        "name", "primary_types", "functions/lib:fn/function", "functions/lib:g",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field, values in VALUES.items() for value in values]
    + [("functions", {"l:f": value}) for value in FUNCTION_VALUES],
)
def test_schema_and_validator_agree(field: str, value: Any) -> None:
    """A file that an editor accepts is one that the library uses."""
    description = {**GOOD, field: value}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        system = BackendSystem(None, "SCHEMALIB", backends=[description])
        problems = list(system.problems)
    assert VALIDATOR.is_valid(description) is not bool(problems), problems


@pytest.mark.parametrize("missing", [*GOOD])
def test_required_fields_are_required(missing: str) -> None:
    assert not VALIDATOR.is_valid({key: GOOD[key] for key in GOOD if key != missing})
