"""The command names of the public package ``spatch``, for scripts that use them."""

from __future__ import annotations

import click

from .arguments import files_argument
from .update import update_command
from .verify import verify_command


@click.command("update-entrypoints")
@files_argument
@click.option("--verify", is_flag=True, help="Verify the files afterwards.")
@click.pass_context
def update_entrypoints(context: click.Context, files: tuple[str, ...], verify: bool) -> None:
    """Run update, and with --verify, verify after it."""
    try:
        context.invoke(update_command, files=files, check=False, as_json=False)
    except click.exceptions.Exit as ended:
        if ended.exit_code or not verify:
            raise
        context.invoke(verify_command, files=files, no_imports=False, as_json=False)


ALIASES: dict[str, click.Command] = {
    "update-entrypoints": update_entrypoints,
    "verify-entrypoints": verify_command,
}
"""Hidden commands: neither the help nor completion shows them."""
