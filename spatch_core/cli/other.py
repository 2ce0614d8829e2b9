"""``spatch-core schema`` and ``completion``: what editors and shells need."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from .output import COMPLETING, show_text

if TYPE_CHECKING:
    from importlib.abc import Traversable


def shaped_commands() -> list[str]:
    """Return the commands that print JSON."""
    names = {each.name.removesuffix(".json") for each in _folder().iterdir()}
    return sorted(names - {"common"})


def shape(command: str) -> dict[str, Any]:
    """Return the JSON Schema of a command's output with ``--json``."""
    own, common = (
        json.loads((_folder() / f"{name}.json").read_text("utf-8")) for name in (command, "common")
    )
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"Output of spatch-core {command} --json",
        "description": "Later versions may add keys, but do not remove any.",
        **own,
        "$defs": common,
    }


def _folder() -> Traversable:
    return files(__name__.rpartition(".")[0]) / "shapes"


@click.command(
    "schema",
    help="""Print the JSON Schema of the TOML files of backends.

With COMMAND, print the JSON Schema of the output of COMMAND --json.""",
    epilog="""\b
Examples:
  spatch-core schema > backend.schema.json
  spatch-core schema list

With "#:schema ./backend.schema.json" in the first line of a TOML file, editors that use
Taplo (for example, Even Better TOML) complete and check it.

The schema checks each value by itself. Only spatch-core verify finds fields that contradict
each other, misspelled fields, and a backend that goes before itself.""",
)
@click.argument(
    "command", metavar="[COMMAND]", required=False, type=click.Choice(shaped_commands())
)
def schema_command(command: str | None) -> None:
    """Run ``spatch-core schema``."""
    if command is None:
        package = files(__name__.rpartition(".cli.")[0])
        show_text((package / "backend.schema.json").read_text("utf-8"))
    else:
        show_text(json.dumps(shape(command), indent=2) + "\n")


@click.command(
    "completion",
    help="""Print the script with which SHELL completes the arguments of spatch-core.""",
    epilog="""\b
Examples:
  spatch-core completion bash > spatch-core.bash, and source it in ~/.bashrc
  eval "$(spatch-core completion zsh)"
  spatch-core completion fish > ~/.config/fish/completions/spatch-core.fish

The script completes commands, options, and the names of installed libraries, backends,
functions and types. Completing a name may take as long as importing the libraries.""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Run ``spatch-core completion``."""
    found = get_completion_class(shell)
    assert found is not None  # click has one for each of these
    script = found(context.find_root().command, {}, "spatch-core", COMPLETING)
    # Not script.source(), which requires the shell: the script may be for another machine.
    show_text(script.source_template % script.source_vars())
