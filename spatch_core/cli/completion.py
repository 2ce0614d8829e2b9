"""``spatch-core completion``: a script for shell completion."""

from __future__ import annotations

import os
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from .streams import COMPLETING, show_text

_PROGRAM = "spatch-core"

_EPILOG = """\b
Examples:
  spatch-core completion bash > spatch-core.bash, and source it in ~/.bashrc
  eval "$(spatch-core completion zsh)"
  spatch-core completion fish > ~/.config/fish/completions/spatch-core.fish

The script completes commands, options, and the names of installed libraries, backends,
functions and types. Completing a name may take as long as importing the libraries."""


@click.command("completion", epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script with which SHELL completes the arguments of spatch-core."""
    found = get_completion_class(shell)
    assert found is not None  # click has one for each of these
    script = found(context.find_root().command, {}, _PROGRAM, COMPLETING)
    # Not script.source(), which requires the shell: the script may be for another machine.
    show_text(script.source_template % script.source_vars())


class _Bash(BashComplete):
    """Completion for bash, which splits words at colons and equals signs."""

    _split = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words of the line, with those joined that bash has split."""
        position = int(os.environ["COMP_CWORD"])
        given = [*split_arg_string(os.environ["COMP_WORDS"]), ""][: position + 1]
        words: list[str] = []
        for word in given:
            colon = words and (word == ":" or words[-1].endswith(":"))
            option = words and words[-1].startswith("--")
            if colon or (option and (word == "=" or words[-1].endswith("="))):
                words[-1] += word
            else:
                words.append(word)
        incomplete = words.pop()
        if ":" in given:
            value = incomplete.rpartition("=")[2]
            self._split = value[: value.rfind(":") + 1]
        return words[1:], incomplete

    def format_completion(self, item: Any) -> str:  # CompletionItem is generic from click 8.5 on
        """Return a completion without the part of the word that bash keeps."""
        return f"{item.type},{item.value.removeprefix(self._split)}"


add_completion_class(_Bash)
