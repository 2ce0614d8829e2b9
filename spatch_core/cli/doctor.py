"""``spatch-core doctor``: everything that is wrong with backends."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from ..examination.doctor import LibraryReport, examine_library
from ..examination.findings import Severity
from ..examination.libraries import GROUP
from ..examination.type_check import SLOW
from .arguments import chosen_libraries, complete_libraries, json_option
from .json_shape import JsonCommand
from .output import Column, Notes, Part, Table, show, show_json
from .records import STATE_STYLES, distribution_text

_TITLES = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.NOTE: "Notes"}
_COLUMNS = (
    Column("backend"),
    Column("state", styles=STATE_STYLES),
    *(Column(title.lower(), is_number=True, styles={"0": "dim"}) for title in _TITLES.values()),
    Column("distribution"),
)

_EPILOG = f"""\b
Examples:
  spatch-core doctor
  spatch-core doctor scipy_dispatch --json

Errors are what cannot work: modules, types, functions and names of the library that do not
exist, implementations and should_run that cannot take the library's calls, imports that
fail, hang or crash, types that can never match. Warnings are what works badly or not here:
dependencies that are not installed, abstract classes that take {SLOW} s or more to import,
backends of a name that is taken, variables that name nothing. Notes are no faults: what is
not checked because it is not installed here, for example.

Exit code 1 if there are errors or warnings."""


@click.command("doctor", cls=JsonCommand, epilog=_EPILOG)
@click.argument("library", required=False, shell_complete=complete_libraries)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long one process may take.",
)
@json_option
@click.pass_context
def doctor_command(
    context: click.Context, library: str | None, timeout: float, as_json: bool
) -> None:
    """Examine every backend of LIBRARY, or of all libraries, and report all faults at once.

    Everything that a backend names is imported, in a process for each backend, so that none
    can spoil the examination of the others. Nothing that is blocked is touched. What only
    `update` reads of a file, functions.auto-generation, is for `verify` to check.
    """
    examined = [examine_library(each, timeout=timeout) for each in chosen_libraries(library)]
    if as_json:
        show_json({"libraries": [_as_json(each) for each in examined]})
    elif examined:
        show(part for each in examined for part in _parts(each))
    else:
        show([f"No library is registered in the entry point group {GROUP}."])
    context.exit(0 if all(each.ok for each in examined) else 1)


def _parts(examined: LibraryReport) -> list[Part]:
    parts: list[Part] = [
        f"{examined.subject}  {distribution_text(examined.library.source)}".rstrip()
    ]
    rows = [
        (
            each["name"],
            each["state"],
            *(str(count) for count in _counts(examined, each).values()),
            " ".join(filter(None, (each["distribution"], each["version"]))),
        )
        for each in examined.backends
    ]
    if rows:
        parts.append(Table(_COLUMNS, rows))
    for severity, title in _TITLES.items():
        lines = [str(each) for each in examined.findings if each.severity is severity]
        parts.append(Notes(title, lines))
    return parts


def _counts(examined: LibraryReport, backend: dict[str, Any]) -> dict[str, int]:
    """Count the findings about one backend; several may have its name."""
    place = ("entry_point", "distribution")
    found = Counter(
        each.severity
        for each in examined.findings
        if each.backend == backend["name"]
        and all(getattr(each.source, key) == backend[key] for key in place)
    )
    return {title.lower(): found[severity] for severity, title in _TITLES.items()}


def _as_json(examined: LibraryReport) -> dict[str, Any]:
    return {
        "name": examined.subject,
        "backends": [{**each, **_counts(examined, each)} for each in examined.backends],
        "findings": [each.as_json() for each in examined.findings],
    }
