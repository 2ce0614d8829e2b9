"""The command line, a thin shell over the package.

Each command is one module with one click command; `_libraries` finds what they talk
about, `_output` shows it. Needs the ``cli`` extra: click and rich.
"""

from __future__ import annotations

from typing import Any

import click

from .. import __version__
from ._arguments import meant
from ._completion import completion_command
from ._doctor import doctor_command
from ._explain import explain_command
from ._functions import functions_command
from ._list import list_command
from ._new_backend import new_backend_command
from ._order import order_command
from ._output import ended_in_words
from ._registered import libraries_command
from ._schema import schema_command
from ._show import show_command
from ._update import update_command
from ._verify import verify_command

__all__ = ["main"]


class _Group(click.Group):
    """Offers the nearest command for one that there is not; ends without tracebacks."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with ended_in_words():  # help is printed here
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with ended_in_words():
            return super().invoke(ctx)

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


main.add_command(libraries_command)
main.add_command(list_command)
main.add_command(show_command)
main.add_command(order_command)
main.add_command(functions_command)
main.add_command(explain_command)
main.add_command(doctor_command)
main.add_command(verify_command)
main.add_command(update_command)
main.add_command(schema_command)
main.add_command(completion_command)
main.add_command(new_backend_command)
