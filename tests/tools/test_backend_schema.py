"""The schema of backends' files: made from the validator's tables, and of one mind with it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import backend_schema
from backend_schema import make_schema
from spatch_core import DescriptionError
from spatch_core._description import (
    AUTO_GENERATION_TABLE,
    FIELD_TABLE,
    FUNCTION_TABLE,
    VARIANT_TABLE,
)
from spatch_core._errors import Source
from spatch_core._parsing import parse_description

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "description.md"
VALIDATOR: Any = jsonschema.Draft7Validator(make_schema())
BEYOND = (
    "there is no field",  # a misspelling: which keys resemble one
    "a backend cannot precede itself",  # of two fields
    "is in higher_priority_than too",  # the same
)
"""What the validator finds and no schema can say."""


def test_the_stored_schema_is_the_one_that_is_made() -> None:
    """If not: python tools/backend_schema.py."""
    assert backend_schema.FILE.read_text(encoding="utf-8") == backend_schema.schema_text()


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(make_schema())


@pytest.mark.parametrize(
    ("mark", "fields"),
    [
        ("fields", FIELD_TABLE),
        ("function fields", FUNCTION_TABLE),
        ("variant fields", VARIANT_TABLE),
        ("auto-generation fields", AUTO_GENERATION_TABLE),
    ],
)
def test_the_reference_says_the_same(mark: str, fields: dict[str, tuple[str, str, str]]) -> None:
    """The same defaults and meanings as editors show."""
    text = REFERENCE.read_text(encoding="utf-8").split(f"<!--- {mark} -->")[1]
    rows = re.findall(r"^\|(.*)\|$", text.lstrip().split("\n\n")[0], re.MULTILINE)[2:]
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    assert [(f"`{key}`", default, meaning) for key, (_, default, meaning) in fields.items()] == [
        (key, default, meaning) for key, _, default, meaning in cells
    ]


def test_every_field_is_explained() -> None:
    """What an editor shows beside a key."""
    schema = make_schema()
    assert schema["properties"].keys() == FIELD_TABLE.keys()
    function = schema["definitions"]["function"]["properties"]
    assert function.keys() == FUNCTION_TABLE.keys()
    for properties in (schema["properties"], function):
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


@pytest.mark.parametrize("text", ["a:b\n", "a\n", "ü:é", "gpu", "a.<locals>:b", "-:.", "²:a", "a:"])
def test_edges_of_patterns(text: str) -> None:
    """Letters beyond ASCII pass; a line end never does."""
    for fields in (
        {"name": text, "primary_types": ["m:T"]},
        {"name": "a", "primary_types": [f"~{text}"]},
    ):
        _agree(fields)


letters = "a.:~@_-<>0é \n"
words = st.one_of(
    st.text(letters, max_size=4),
    st.from_regex(r"[~@]?[a-c]\.?[a-c0-9]:[a-c](\.<locals>)?", fullmatch=True),
    st.sampled_from(["a:b", "m.n:T", "~a:b", "@a:b", "default", "gpu", "x-1"]),
)
anything: Any = st.recursive(
    st.one_of(words, st.booleans(), st.integers(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(words, inner, max_size=2)),
    max_leaves=4,
)


def mostly(strategy: Any) -> Any:
    return st.one_of(strategy, strategy, strategy, anything)


def table(fields: dict[str, Any]) -> Any:
    return st.fixed_dictionaries({}, optional={**fields, "other": anything})


VARIANT = table({"requires": mostly(words), "function": mostly(words)})
FUNCTION = table(
    {
        "function": mostly(words),
        "should_run": mostly(words),
        "uses_context": mostly(st.booleans()),
        "additional_docs": mostly(st.text(max_size=3)),
        "variants": mostly(st.lists(VARIANT, max_size=2)),
    }
)
AUTO_GENERATION = table(
    {
        "backend": mostly(words),
        "modules": mostly(st.lists(words, max_size=2)),
        "variants_of": mostly(words),
    }
)
FUNCTIONS = st.builds(
    lambda functions, special: {**functions, **special},
    st.dictionaries(words, mostly(FUNCTION), max_size=2),
    st.fixed_dictionaries(
        {},
        optional={
            "defaults": mostly(FUNCTION),
            "auto-generation": mostly(AUTO_GENERATION),
            "*": mostly(FUNCTION),
        },
    ),
)
WEB_ADDRESSES = st.from_regex(r"https?://?[a-z(:<\" %é]{0,4}\n?", fullmatch=True)
LIST = mostly(st.lists(mostly(words), max_size=2))
DESCRIPTION = table(
    {
        "name": mostly(words),
        "primary_types": LIST,
        "secondary_types": LIST,
        "requires_opt_in": mostly(st.booleans()),
        "higher_priority_than": LIST,
        "lower_priority_than": LIST,
        "to_default": mostly(words),
        "from_default": mostly(words),
        "copy_into": mostly(words),
        "requires": LIST,
        "url": mostly(st.one_of(words, WEB_ADDRESSES)),
        "attributes": mostly(st.dictionaries(words, mostly(words), max_size=2)),
        "functions": mostly(FUNCTIONS),
    }
)
GOOD = {"name": "gpu", "primary_types": ["m:T"]}


@given(st.one_of(DESCRIPTION, DESCRIPTION.map(lambda fields: {**fields, **GOOD})))
def test_schema_and_validator_agree(fields: dict[str, Any]) -> None:
    """Whatever is in the file."""
    _agree(fields)


def _agree(fields: dict[str, Any]) -> None:
    """What one refuses, the other does, but for what only the validator can see."""
    is_valid = VALIDATOR.is_valid(json.loads(json.dumps(fields)))
    try:
        parse_description(fields, Source())
    except DescriptionError as error:
        seen = [each for each in error.problems if not any(text in str(each) for text in BEYOND)]
        # Which letters beyond ASCII a name may have, the schema does not say.
        if seen and str(fields).isascii():
            assert not is_valid, seen
    else:
        assert is_valid, list(VALIDATOR.iter_errors(fields))
