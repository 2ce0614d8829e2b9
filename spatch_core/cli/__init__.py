"""The command line: one module a command, which parses, calls and prints.

The work is done in `examination`. Needs the ``cli`` extra: click and rich.
"""

from __future__ import annotations

from typing import Any

import click

from .. import __version__
from ..examination.progress import announce
from .arguments import meant
from .completion import completion_command
from .doctor import doctor_command
from .explain import explain_command
from .functions import functions_command
from .libraries import libraries_command
from .list import list_command
from .new_backend import new_backend_command
from .order import order_command
from .schema import schema_command
from .show import show_command
from .streams import ended_in_words, progress
from .update import update_command
from .verify import verify_command

__all__ = ["main"]


class _Group(click.Group):
    """Offers the nearest command for an unknown one, and ends without tracebacks."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with ended_in_words():  # help is printed here
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        shown = announce.set(progress)
        try:
            with ended_in_words():
                return super().invoke(ctx)
        finally:
            announce.reset(shown)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = not args or self.get_command(ctx, args[0]) is not None
        if not known and not args[0].startswith("-") and not ctx.resilient_parsing:
            hint = meant(args[0], self.commands, "commands")
            ctx.fail(f"no command is named {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  spatch-core list
  spatch-core explain mylib:blur numpy:ndarray

Tables in a terminal, aligned text when piped, JSON with --json. NO_COLOR is honoured.

\b
Exit codes:
  0  all is well
  1  problems were found
  2  wrong usage""",
)
@click.version_option(__version__, prog_name="spatch-core")
def main() -> None:
    """Show which backends libraries have, and what runs when, and why."""


for command in (
    libraries_command,
    list_command,
    show_command,
    order_command,
    functions_command,
    explain_command,
    doctor_command,
    verify_command,
    update_command,
    schema_command,
    completion_command,
    new_backend_command,
):
    main.add_command(command)
