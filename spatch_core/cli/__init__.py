"""The command line: parses, calls `examination` and prints. Needs the ``cli`` extra."""

from __future__ import annotations

from functools import partial
from shutil import get_terminal_size
from time import monotonic
from typing import Any

import click

from .. import __version__
from ..examination.child import announce
from .arguments import completion_command, meant, schema_command
from .doctor import doctor_command, files_argument, update_command, verify_command
from .explain import explain_command, replay_check_command
from .new_backend import new_backend_command
from .output import slow_step
from .report import report_command
from .show import list_command, show_command

__all__ = ["main"]

_SECTIONS = {
    "See what there is": (list_command, show_command, report_command),
    "See what runs, and why": (explain_command, replay_check_command),
    "Find faults": (doctor_command, verify_command),
    "Write a backend": (new_backend_command, update_command),
    "Other": (schema_command, completion_command),
}
_REPLACED = {
    "libraries": "list",
    "functions": "show LIBRARY",
    "order": "show LIBRARY",
}
"""Commands of earlier versions, and what to write instead."""


@click.command("update-entrypoints")
@files_argument
@click.option("--verify", is_flag=True, help="Verify the files afterwards.")
@click.pass_context
def _update_entrypoints(context: click.Context, files: tuple[str, ...], verify: bool) -> None:
    """Run update with --prune, and with --verify, verify after it."""
    try:
        context.invoke(update_command, files=files, check=False, prune=True, as_json=False)
    except click.exceptions.Exit as ended:
        if ended.exit_code or not verify:
            raise
        context.invoke(verify_command, files=files, no_imports=False, as_json=False)


_ALIASES: dict[str, click.Command] = {
    "update-entrypoints": _update_entrypoints,
    "verify-entrypoints": verify_command,
}
"""Commands of the public package ``spatch``; neither the help nor completion shows them."""


class Group(click.Group):
    """Suggests the nearest command for an unknown one, and shows slow steps."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the line, and wrap the help for narrow terminals, which click does not."""
        extra.setdefault("terminal_width", min(get_terminal_size().columns, 80) - 2)
        return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and show steps that take long."""
        shown = announce.set(partial(slow_step, since=monotonic()))
        try:
            return super().invoke(ctx)
        except OSError as error:  # for example, of a full disk
            raise click.ClickException(str(error)) from None
        finally:
            announce.reset(shown)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what one wants to do."""
        for title, commands in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(each.name or "", each.short_help or "") for each in commands])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, also by its name in the public package ``spatch``."""
        return super().get_command(ctx, cmd_name) or _ALIASES.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say what to write instead."""
        known = not args or self.get_command(ctx, args[0]) is not None
        if not known and not args[0].startswith("-") and not ctx.resilient_parsing:
            if args[0] in _REPLACED:
                ctx.fail(f"{args[0]!r} has become `spatch-core {_REPLACED[args[0]]}`")
            hint = meant(args[0], self.commands, "commands")
            ctx.fail(f"no command is named {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Group,
    # Not docstrings, which PYTHONOPTIMIZE=2 removes.
    help="Show the backends of libraries, what runs for a call, and why.",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  spatch-core list
  spatch-core explain mylib.blur numpy.ndarray

The output fits the terminal. In a pipe, each line is complete. --json prints JSON.
NO_COLOR is honoured.

\b
Exit codes:
  0  no problems
  1  problems were found
  2  wrong usage""",
)
@click.version_option(__version__, prog_name="spatch-core")
def main() -> None:
    """Run a command."""


for _commands in _SECTIONS.values():
    for _command in _commands:
        # The whole summary, which click would cut in the list of commands.
        _command.short_help = _command.get_short_help_str(limit=1000)
        main.add_command(_command)
