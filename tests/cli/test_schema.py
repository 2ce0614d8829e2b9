"""``spatch-core schema``: the schema of files is printed, those of commands say what is so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from click.testing import CliRunner

import spatch_core
from spatch_core.cli import main
from spatch_core.cli.arguments import shape, shaped_commands
from spatch_core.types import Verdict

if TYPE_CHECKING:
    from tests.cli.conftest import Site

BLUR = "paintlib.filters:blur"
RECORD = json.dumps(
    {
        "format": 1,
        "calls": [
            {
                "function": BLUR,
                "types": ["builtins:int"],
                "backend": "default",
                "distribution": "paint-lib",
                "version": "2.5",
                "before": [],
                "options": {"prioritize": [], "disable": [], "type": None, "backend": None},
                "invoked": False,
                "count": 1,
            }
        ],
    }
)
LINES: dict[str, list[tuple[str, ...]]] = {
    "list": [(), ("paintlib",)],
    "show": [("oil",), ("default", "--library", "paintlib"), ("water",), ("paintlib",), ("blur",)],
    "explain": [
        (BLUR,),
        (BLUR, "fractions:Fraction"),
        (BLUR, "builtins:int", "--why-not", "oil"),
        (BLUR, "absent:Type", "--type", "builtins:int", "--why-not", "water"),
    ],
    "doctor": [(), ("paint_oil",)],
    "replay-check": [("run.json",)],
    "verify": [("paint_oil/backend.toml", "--no-imports"), ("paint_water/backend.toml",)],
    "update": [("paint_oil/backend.toml", "--check")],
    "new-backend": [
        ("paintlib", "gold", "--type", "decimal:Decimal"),
        ("paintlib", "lead", "--type", "decimal:Decimal", "--minimal"),
    ],
}


def _properties(record: dict[str, Any], known: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the keys of an object, also those of the objects that it refers to."""
    record = known[record["$ref"].rpartition("/")[2]] if "$ref" in record else record
    found = dict(record.get("properties", {}))
    for each in record.get("allOf", ()):
        found.update(_properties(each, known))
    return found


def exact(schema: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that takes objects with all keys of the given one, and no other."""
    if "anyOf" in schema:
        return {"anyOf": [exact(each, known) for each in schema["anyOf"]]}
    if "$ref" in schema and "enum" in known[schema["$ref"].rpartition("/")[2]]:
        named: dict[str, Any] = known[schema["$ref"].rpartition("/")[2]]
        return named
    if "$ref" in schema or "properties" in schema or "allOf" in schema:
        keys = {key: exact(each, known) for key, each in _properties(schema, known).items()}
        kind = schema.get("type", "object")
        return {
            "type": kind, "properties": keys, "required": [*keys], "additionalProperties": False,
        }  # fmt: skip
    if "items" in schema:
        return {**schema, "items": exact(schema["items"], known)}
    return schema


def test_the_schema_of_files_is_printed(site: Site) -> None:
    """It is the file in the package, which editors read."""
    answer = site.run("schema")
    assert (answer.code, answer.errors) == (0, "")
    stored = Path(spatch_core.__file__).parent / "backend.schema.json"
    assert stored.read_text(encoding="utf-8") == answer.output


def test_every_command_with_json_has_a_shape() -> None:
    """No other command has one."""
    with_json = {
        name
        for name, each in main.commands.items()
        if any("--json" in option.opts for option in each.params)
    }
    assert set(shaped_commands()) == with_json == set(LINES)


@pytest.mark.slow
@pytest.mark.parametrize("command", LINES)
def test_what_is_printed_has_the_shape(paint: Site, command: str) -> None:
    """Every key is documented, and every documented key is there."""
    paint.install_backend("water", 'primary_types = 1\nlower_priority_than = ["x"]\n')
    for first, second in (("chalk", "wax"), ("wax", "chalk")):
        paint.install_backend(
            first, f'primary_types = ["m:T"]\nhigher_priority_than = ["{second}"]\n'
        )
    (paint.folder / "run.json").write_text(RECORD)
    schema = shape(command)
    jsonschema.Draft7Validator.check_schema(schema)
    for line in LINES[command]:
        found = paint.run(command, *line, "--json").json
        jsonschema.validate(found, schema)
        jsonschema.validate(found, exact(schema, schema["$defs"]))


def test_the_reference_shows_every_schema() -> None:
    """It is the output of the command, which the help of the option names."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"
    shown = re.findall(
        r"^spatch-core schema ([a-z][a-z-]*)$", page.read_text("utf-8"), re.MULTILINE
    )
    assert sorted(shown) == shaped_commands()
    for name in shown:
        result = CliRunner().invoke(main, ["schema", name])
        assert json.loads(result.output) == shape(name)
        help_text = " ".join(CliRunner().invoke(main, [name, "--help"]).output.split())
        assert "Print JSON; see spatch-core schema COMMAND." in help_text


def test_the_schema_of_explain_knows_every_verdict() -> None:
    """A verdict that it lacked would make the output of a command invalid."""
    verdicts = shape("explain")["anyOf"][0]["properties"]["backends"]["items"]["properties"][
        "verdict"
    ]["enum"]
    assert sorted(verdicts) == sorted(each.value for each in Verdict)
