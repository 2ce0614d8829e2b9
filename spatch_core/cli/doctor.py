"""``spatch-core doctor``: examine the backends of libraries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import click

from .._errors import Finding, Severity
from .._patterns import shown
from ..examination.backends import State
from ..examination.doctor import LibraryReport, examine_library
from ..examination.findings import as_json
from .arguments import (
    NO_LIBRARY,
    chosen_libraries,
    complete_libraries,
    json_option,
    timeout_option,
)
from .findings import by_backend, count_severities, counted
from .output import Column, Notes, Part, Table, show, show_json
from .records import STATE_STYLES, distribution_text

_FAULTY = "active, faulty"
_COLUMNS = (
    Column("backend"),
    Column("state", styles={**STATE_STYLES, _FAULTY: "red"}),
    Column("findings", styles={"no findings": "dim"}, is_prose=True),
    Column("distribution"),
)

_EPILOG = """\b
Examples:
  spatch-core doctor
  spatch-core doctor scipy_dispatch --json

Errors never work: modules, types, and functions of the library that do not exist,
implementations and should_run that cannot take the library's calls, imports that fail, hang
or crash, types that can never match. Warnings work badly, or not in this environment:
dependencies that are not installed, backends whose name is taken, unknown names in environment
variables. Notes are not faults: for example, a type whose package is not installed is not
checked.

Exit code 1 if there are errors or warnings."""


@click.command("doctor", epilog=_EPILOG)
@click.argument("library", required=False, shell_complete=complete_libraries)
@timeout_option
@json_option
@click.pass_context
def doctor_command(
    context: click.Context, library: str | None, timeout: float, as_json: bool
) -> None:
    """Examine every backend of LIBRARY, or of all libraries, and report all faults at once.

    Everything that a backend names is imported, in a process of its own, so that it does not
    affect the examination of other backends. Blocked backends are not touched. The table
    functions.auto-generation, which only `update` reads, is checked by `verify`.
    """
    examined = [examine_library(each, timeout=timeout) for each in chosen_libraries(library)]
    if as_json:
        show_json({"libraries": [examined_as_json(each) for each in examined]})
    else:
        show([*(part for each in examined for part in _parts(each)), _summary(examined)])
    context.exit(0 if all(each.ok for each in examined) else 1)


def _parts(examined: LibraryReport) -> Iterator[Part]:
    yield f"{examined.subject}  {distribution_text(examined.library.source)}".rstrip()
    rows = [_row(examined, each) for each in examined.backends]
    if rows:
        yield Table(_COLUMNS, rows)
    found = _findings(examined)
    if found:
        yield "Findings"
        yield from found


def _findings(examined: LibraryReport) -> list[Notes]:
    found: list[Finding] = sorted(examined.findings, key=_owner)
    return by_backend(found, examined.subject, examined.default_name, severities=True)


def _owner(finding: Finding) -> tuple[str, str]:
    return finding.backend or "", (finding.source and finding.source.distribution) or ""


def _row(examined: LibraryReport, backend: dict[str, Any]) -> tuple[str, ...]:
    severities = [each.severity.value for each in _about(examined, backend)]
    is_faulty = backend["state"] == State.ACTIVE and Severity.ERROR.value in severities
    return (
        shown(backend["name"], examined.default_name),
        _FAULTY if is_faulty else backend["state"],
        count_severities(severities),
        " ".join(filter(None, (backend["distribution"], backend["version"]))),
    )


def _summary(examined: list[LibraryReport]) -> str:
    if not examined:
        return NO_LIBRARY
    lines = [line for each in examined for notes in _findings(each) for line in notes.lines]
    severities = count_severities(str(line).partition(":")[0] for line in lines)
    return f"{counted(sum(len(each.backends) for each in examined), 'backend')}: {severities}"


def _about(examined: LibraryReport, backend: dict[str, Any]) -> list[Finding]:
    """Return the findings about one of the backends, of which several may have one name."""
    place = ("entry_point", "distribution")
    return [
        each
        for each in examined.findings
        if each.backend == backend["name"]
        and all(getattr(each.source, key) == backend[key] for key in place)
    ]


def examined_as_json(examined: LibraryReport) -> dict[str, Any]:
    """Return a library as ``doctor --json`` prints it."""
    backends = []
    for each in examined.backends:
        found = Counter(finding.severity for finding in _about(examined, each))
        backends.append({**each, **{f"{severity}s": found[severity] for severity in Severity}})
    return {
        "name": examined.subject,
        "backends": backends,
        "findings": [as_json(each) for each in examined.findings],
    }
