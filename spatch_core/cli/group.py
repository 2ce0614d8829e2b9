"""The group of all commands: it suggests names, shows progress, and ends without tracebacks."""

from __future__ import annotations

from functools import partial
from shutil import get_terminal_size
from time import monotonic
from typing import Any

import click

from ..examination.child import announce
from .arguments import files_argument, meant
from .streams import errors_shown, progress
from .update import update_command
from .verify import verify_command


@click.command("update-entrypoints")
@files_argument
@click.option("--verify", is_flag=True, help="Verify the files afterwards.")
@click.pass_context
def update_entrypoints(context: click.Context, files: tuple[str, ...], verify: bool) -> None:
    """Run update, and with --verify, verify after it."""
    try:
        context.invoke(update_command, files=files, check=False, prune=False, as_json=False)
    except click.exceptions.Exit as ended:
        if ended.exit_code or not verify:
            raise
        context.invoke(verify_command, files=files, no_imports=False, as_json=False)


ALIASES: dict[str, click.Command] = {
    "update-entrypoints": update_entrypoints,
    "verify-entrypoints": verify_command,
}
"""Commands of the public package ``spatch``; neither the help nor completion shows them."""


class Group(click.Group):
    """Suggests the nearest command for an unknown one, and ends without tracebacks."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the line, and wrap the help for narrow terminals, which click does not."""
        extra.setdefault("terminal_width", min(get_terminal_size().columns, 80) - 2)
        with errors_shown():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and show steps that take long."""
        shown = announce.set(partial(progress, since=monotonic()))
        try:
            with errors_shown():
                return super().invoke(ctx)
        finally:
            announce.reset(shown)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, also by its name in the public package ``spatch``."""
        return super().get_command(ctx, cmd_name) or ALIASES.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest one."""
        known = not args or self.get_command(ctx, args[0]) is not None
        if not known and not args[0].startswith("-") and not ctx.resilient_parsing:
            hint = meant(args[0], self.commands, "commands")
            ctx.fail(f"no command is named {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)
