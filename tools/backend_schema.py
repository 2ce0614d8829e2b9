"""Write the JSON Schema of the TOML files of backends, and the tables of the reference page.

    python tools/backend_schema.py

Both are made from the validator's tables of fields. The command ``spatch-core schema`` prints
``spatch_core/backend.schema.json``; the page is ``docs/reference/description.md``.
``tests/tools/test_backend_schema.py`` checks that both files are up to date, and that schema and
validator agree.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

# ruff: noqa: E402 - the path comes first
from spatch_core._description import (
    ALL_FIELDS,
    AUTO_GENERATION_TABLE,
    FIELD_TABLE,
    FUNCTION_TABLE,
    NEEDED,
    REQUIRED,
    TABLE,
    VARIANT_TABLE,
    VARIANTS,
)
from spatch_core._parsing import WEB_ADDRESS
from spatch_core._patterns import DEFAULT

FILE = ROOT / "spatch_core" / "backend.schema.json"
PAGE = ROOT / "docs" / "reference" / "description.md"
_TABLES = {
    "fields": FIELD_TABLE,
    "function fields": FUNCTION_TABLE,
    "variant fields": VARIANT_TABLE,
    "auto-generation fields": AUTO_GENERATION_TABLE,
}
"""The tables of the page, by the marks before them."""

# All characters beyond ASCII pass, because dialects of patterns disagree about letters.
_START = r"[^\x00-@\[-^`{-\x7F]"
_FURTHER = r"[^\x00-/:-@\[-^`{-\x7F]"
_PART = rf"(?:{_START}{_FURTHER}*|<locals>)"
_IDENTIFIER = rf"{_PART}(?:\.{_PART})*:{_PART}(?:\.{_PART})*"
_END = r"$(?!\n)"  # in some dialects `$` alone matches before a final line end
_NAME = rf"^[^\x00-,/:-@\[-^`{{-\x7F]+{_END}"


def schema_text() -> str:
    """Return the content of the schema's file."""
    return json.dumps(make_schema(), indent=2) + "\n"


def make_schema() -> dict[str, Any]:
    """Make the schema, from the validator's tables of fields."""
    schema = _table(FIELD_TABLE)
    functions = schema["properties"]["functions"]
    # Draft 7 ignores all keywords beside `$ref`.
    entry = {"allOf": [{"$ref": "#/definitions/function"}]}
    pattern = f"^{_IDENTIFIER}{_END}"
    functions["properties"] = {
        "defaults": {
            **entry,
            "description": "Values for every function that does not set them itself.",
        },
        "*": {
            **entry,
            "description": (
                "One implementation for every function without a table of its own; it gets the "
                "context, whose attribute function names the called function."
            ),
        },
        "auto-generation": {
            **_table(AUTO_GENERATION_TABLE, required=False),
            "description": "Tells spatch-core update where to find the functions.",
            "anyOf": [{"maxProperties": 0}, {"required": _required(AUTO_GENERATION_TABLE)}],
        },
    }
    # A key without dots and colons may be the table of a later version.
    functions["patternProperties"] = {
        pattern: entry,
        rf"^[^.:]*{_END}": True,
        **_misplaced(functions["properties"]),
    }
    functions["additionalProperties"] = False
    attributes = schema["properties"]["attributes"]
    attributes["patternProperties"] = {pattern: {"$ref": "#/definitions/identifier"}}
    attributes["additionalProperties"] = False
    needed = {
        "anyOf": [
            {"required": _required(FUNCTION_TABLE)},
            {"required": [VARIANTS], "properties": {VARIANTS: {"minItems": 1}}},
        ]
    }
    functions["if"] = {
        "required": ["defaults"],
        "properties": {"defaults": {"type": "object", **needed}},
    }
    functions["else"] = {"patternProperties": {pattern: needed}, "properties": {"*": needed}}
    needs: dict[str, list[str]] = {}
    for key, other in NEEDED:
        needs.setdefault(key, []).append(other)
    schema["dependencies"] = needs
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "The description of a backend",
        "definitions": {
            "identifier": {"type": "string", "pattern": pattern},
            "typePattern": {"type": "string", "pattern": f"^[~@]?{_IDENTIFIER}{_END}"},
            "backendName": {"type": "string", "pattern": _NAME},
            "function": _table(FUNCTION_TABLE, required=False),
            "variant": _table(VARIANT_TABLE),
        },
        **schema,
    }


def _kinds() -> dict[str, dict[str, Any]]:
    """Return the schema of each kind of value."""

    def list_of(items: Mapping[str, Any]) -> dict[str, Any]:
        return {"type": "array", "items": items}

    name = {"$ref": "#/definitions/backendName"}
    return {
        "backend name": {"allOf": [name], "not": {"const": DEFAULT}},
        "boolean": {"type": "boolean"},
        "boolean, 0 or 1": {"anyOf": [{"type": "boolean"}, {"enum": [0, 1]}]},
        "identifier": {"allOf": [{"$ref": "#/definitions/identifier"}]},
        "backend name or list of them": {"anyOf": [name, list_of(name)]},
        "module or list of modules": {"anyOf": [{"type": "string"}, list_of({"type": "string"})]},
        "list of requirements": list_of({"type": "string", "pattern": "^[A-Za-z0-9]"}),
        "list of variants": list_of({"$ref": "#/definitions/variant"}),
        "requirement": {"type": "string", "pattern": "^[A-Za-z0-9]"},
        "list of type patterns": list_of({"$ref": "#/definitions/typePattern"}),
        "string": {"type": "string"},
        "table": {"type": "object"},
        "web address": {"type": "string", "pattern": f"^{WEB_ADDRESS}{_END}"},
    }


def _table(fields: Mapping[str, tuple[str, str, str]], required: bool = True) -> dict[str, Any]:
    """Describe a table. Unknown keys are allowed, because a later version may have them."""
    kinds = _kinds()
    properties = {}
    for key, (kind, default, meaning) in fields.items():
        properties[key] = {"description": meaning[0].upper() + meaning[1:] + ".", **kinds[kind]}
        if default.startswith("`"):
            properties[key]["default"] = json.loads(default.strip("`"))
        elif default == REQUIRED and kind.startswith("list"):
            properties[key]["minItems"] = 1
    table: dict[str, Any] = {"type": "object"}
    if required:
        table["required"] = _required(fields)
    return {**table, "properties": properties, "patternProperties": _misplaced(fields)}


def _misplaced(known: Collection[str]) -> dict[str, Any]:
    """Refuse the fields of other tables, which have no effect in this one.

    They are patterns, because editors suggest properties.
    """
    others = [str(key) for key in ALL_FIELDS if key not in known]
    tables = [key for key in others if ALL_FIELDS[key][0] == TABLE]
    values = [key for key in others if key not in tables]
    refused = {
        "|".join(map(re.escape, tables)): {"not": {"type": "object"}},
        "|".join(map(re.escape, values)): {"type": "object"},
    }
    return {rf"^(?:{keys}){_END}": schema for keys, schema in refused.items() if keys}


def _required(fields: Mapping[str, tuple[str, str, str]]) -> list[str]:
    return [key for key, (_, default, _) in fields.items() if default == REQUIRED]


def page_text() -> str:
    """Return the text of the page, with the tables that the fields say now."""
    text = PAGE.read_text(encoding="utf-8")
    for mark, fields in _TABLES.items():
        rows = [
            f"| `{key}` | {kind} | {default} | {meaning} |"
            for key, (kind, default, meaning) in fields.items()
        ]
        table = "\n".join(["| field | type | default | meaning |", "|---|---|---|---|", *rows])
        before, start, after = text.partition(f"<!--- {mark} -->\n\n")
        text = before + start + table + "\n\n" + after.partition("\n\n")[2]
    return text


if __name__ == "__main__":
    for file, content in ((FILE, schema_text()), (PAGE, page_text())):
        file.write_text(content, encoding="utf-8")
        print(f"wrote {file.relative_to(ROOT)}")
