"""The schema of backends' files: up to date, documented, and of one mind with the validator."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import backend_schema
from backend_schema import make_schema
from spatch_core import BackendSystem

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "description.md"
VALIDATOR: Any = jsonschema.Draft7Validator(make_schema())
GOOD = {"name": "gpu", "primary_types": ["m:T"]}
FUNCTION = {"function": "m:f", "should_run": "m:ask", "uses_context": True, "additional_docs": "x"}
VARIANTS = [{"requires": "numpy>=2", "function": "m:f"}]


def test_the_stored_schema_is_the_one_that_is_made() -> None:
    """If not: python tools/backend_schema.py."""
    assert backend_schema.FILE.read_text(encoding="utf-8") == backend_schema.schema_text()
    jsonschema.Draft7Validator.check_schema(make_schema())


def test_the_reference_says_the_same() -> None:
    """The same keys and meanings as editors show."""
    text = REFERENCE.read_text(encoding="utf-8")
    schema = make_schema()
    functions = schema["definitions"]["function"]["properties"]
    for mark, properties in (("fields", schema["properties"]), ("function fields", functions)):
        table = text.split(f"<!--- {mark} -->")[1].lstrip().split("\n\n")[0]
        rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]
        assert [row[0] for row in rows] == [f"`{key}`" for key in properties]
        assert all(each["description"] for each in properties.values())


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
    "fields",
    [
        *({"name": name} for name in ("gpu", "x-1.y_2", "a b", "a\n", "", 1, "default")),
        *({"primary_types": each} for each in ([], "m:T", [1], ["~m:T", "@m.n:T.U"])),
        *({"primary_types": [each]} for each in ("m", "m:T\n", "~~m:T", "m:", "a.<locals>:b")),
        *({"secondary_types": each} for each in ([], ["m:U"], "m:U")),
        *({"requires_opt_in": each} for each in (True, 1)),
        *({"higher_priority_than": each} for each in (["default", "other"], "other", ["a b"])),
        *({key: "m:f"} for key in ("to_default", "from_default", "copy_into")),
        *({"to_default": each} for each in ("m", 1)),
        *({"requires": each} for each in (["numpy"], "numpy")),
        *({"url": each} for each in ("https://example.org/a", "example.org", "http://a b")),
        *({"attributes": each} for each in ({"l:x": "m:y"}, {"l": "m:y"}, {"l:x": 1}, [])),
        *({"functions": each} for each in ({}, [], {"l:f": FUNCTION}, {"l:f": 3})),
        *({"functions": {"l:f": {**FUNCTION, "uses_context": each}}} for each in (False, 0)),
        *({"functions": {key: FUNCTION}} for key in ("*", "defaults")),
        *({"functions": {"l:f": {"variants": each}}} for each in (VARIANTS, [], [{}], "v")),
        {"functions": {"l:f": {"should_run": "m:ask"}}},
        {"functions": {"auto-generation": {"backend": "m:b", "modules": ["m.n"]}}},
        {"functions": {"auto-generation": {"modules": ["m.n"]}}},
    ],
    ids=lambda fields: re.sub(r"[^\w:.~@-]+", " ", str(fields)).strip(),
)
def test_schema_and_validator_agree(fields: dict[str, Any]) -> None:
    """A file that an editor accepts is one that the library uses."""
    description = {**GOOD, **fields}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        system = BackendSystem(None, "SCHEMALIB", backends=[description])
        problems = list(system.problems)
    assert VALIDATOR.is_valid(description) is not bool(problems), problems


@pytest.mark.parametrize("missing", [*GOOD])
def test_required_fields_are_required(missing: str) -> None:
    assert not VALIDATOR.is_valid({key: GOOD[key] for key in GOOD if key != missing})
