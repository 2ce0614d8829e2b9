"""The shape of the JSON that commands print: what the help and the schemas say is so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from spatch_core.cli import main
from spatch_core.cli.json_shape import _properties, shape, shape_text, shaped_commands

if TYPE_CHECKING:
    from tests.cli.conftest import Site

BLUR = "paintlib.filters:blur"
LINES: dict[str, list[tuple[str, ...]]] = {
    "libraries": [()],
    "list": [(), ("paintlib",)],
    "show": [("oil",), ("default",), ("water",)],
    "functions": [("paintlib",)],
    "order": [("paintlib",)],
    "explain": [
        (BLUR, "fractions:Fraction"),
        (BLUR, "builtins:int", "--why-not", "oil"),
        (BLUR, "absent:Type", "--type", "builtins:int", "--why-not", "water"),
    ],
    "doctor": [()],
    "verify": [("paint_oil/backend.toml", "--no-imports"), ("paint_water/backend.toml",)],
    "update": [("paint_oil/backend.toml", "--check")],
    "new-backend": [("paintlib", "gold", "--type", "decimal:Decimal")],
}


def exact(schema: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that takes objects with all keys of the given one, and no other."""
    if "$ref" in schema or "properties" in schema or "allOf" in schema:
        keys = {key: exact(each, known) for key, each in _properties(schema, known).items()}
        kind = schema.get("type", "object")
        return {
            "type": kind, "properties": keys, "required": [*keys], "additionalProperties": False,
        }  # fmt: skip
    if "items" in schema:
        return {**schema, "items": exact(schema["items"], known)}
    return schema


def test_every_command_with_json_has_a_shape() -> None:
    """And no other."""
    with_json = {
        name
        for name, each in main.commands.items()
        if any("--json" in option.opts for option in each.params)
    }
    assert set(shaped_commands()) == with_json == set(LINES)


@pytest.mark.parametrize("command", LINES)
def test_a_shape_is_a_valid_schema(command: str) -> None:
    jsonschema.Draft7Validator.check_schema(shape(command))


@pytest.mark.slow
@pytest.mark.parametrize("command", LINES)
def test_what_is_printed_has_the_shape(paint: Site, command: str) -> None:
    """Every key is documented, and every documented key is there."""
    paint.install_backend("water", 'primary_types = 1\nlower_priority_than = ["x"]\n')
    for first, second in (("chalk", "wax"), ("wax", "chalk")):
        paint.install_backend(
            first, f'primary_types = ["m:T"]\nhigher_priority_than = ["{second}"]\n'
        )
    schema = shape(command)
    for line in LINES[command]:
        found = paint.run(command, *line, "--json").json
        jsonschema.validate(found, schema)
        jsonschema.validate(found, exact(schema, schema["$defs"]))


@pytest.mark.parametrize("command", LINES)
def test_the_help_has_every_key(command: str) -> None:
    """In lines that fit a narrow terminal."""

    def keys(schema: dict[str, Any]) -> set[str]:
        found = _properties(schema, known)
        inner = [each.get("items", each) for each in found.values()]
        return {*found}.union(*map(keys, inner))

    known = shape(command)["$defs"]
    text = shape_text(command)
    assert keys(shape(command)) <= set(re.findall(r"\w+", text))
    assert all(len(line) <= 78 for line in text.splitlines())
