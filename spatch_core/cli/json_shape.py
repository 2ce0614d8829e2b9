"""The shape of the JSON that a command prints, as a JSON Schema."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Traversable


def shaped_commands() -> list[str]:
    """Return the commands that print JSON."""
    names = {each.name.removesuffix(".json") for each in _folder().iterdir()}
    return sorted(names - {"common"})


def shape(command: str) -> dict[str, Any]:
    """Return the JSON Schema of what a command prints with ``--json``."""
    own, common = (
        json.loads((_folder() / f"{name}.json").read_text("utf-8")) for name in (command, "common")
    )
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"What spatch-core {command} --json prints",
        "description": "Later versions may add keys, and remove none.",
        **own,
        "$defs": common,
    }


def _folder() -> Traversable:
    return files(__name__.rpartition(".")[0]) / "shapes"
