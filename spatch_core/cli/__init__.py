"""The command line: one module per command, which parses, calls `examination` and prints.

Needs the ``cli`` extra: click and rich.
"""

from __future__ import annotations

import click

from .. import __version__
from .completion import completion_command
from .doctor import doctor_command
from .explain import explain_command
from .functions import functions_command
from .group import Group
from .libraries import libraries_command
from .list import list_command
from .new_backend import new_backend_command
from .order import order_command
from .replay_check import replay_check_command
from .report import report_command
from .schema import schema_command
from .show import show_command
from .update import update_command
from .verify import verify_command

__all__ = ["main"]


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  spatch-core list
  spatch-core explain mylib:blur numpy:ndarray

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
    """Show the backends of libraries, what runs for a call, and why."""


for command in (
    libraries_command,
    list_command,
    show_command,
    order_command,
    functions_command,
    explain_command,
    doctor_command,
    replay_check_command,
    report_command,
    verify_command,
    update_command,
    schema_command,
    completion_command,
    new_backend_command,
):
    # The whole summary, which click would cut in the list of commands.
    command.short_help = command.get_short_help_str(limit=1000)
    main.add_command(command)
