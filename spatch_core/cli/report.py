"""``spatch-core report``: one HTML page about libraries and their backends."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import click

from .._patterns import DEFAULT
from ..examination.child import progress
from ..examination.choices import read_record
from ..examination.doctor import examine_library
from ..examination.libraries import Library, State, import_public_names, load_library
from ..examination.question import what_runs
from ..report.page import ReportedLibrary, ReportedRun, render
from .arguments import chosen_libraries, complete_libraries, naming, timeout_option
from .doctor import examined_as_json
from .output import counted, show
from .show import library_as_json, listed_as_json


def _in_a_folder(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Check the folder of the file before everything is examined; a click callback."""
    folder = Path(value).parent
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {folder}")
    return value


@click.command(
    "report",
    help="""Write an HTML page about each LIBRARY, or about all libraries.

It shows the backends with their states, types and distributions, a picture of the priority
order, which backends implement which functions, what would run for the types that backends
name, the findings of doctor, and recorded runs. Blocked backends are not touched.""",
    epilog="""\b
Examples:
  spatch-core report -o report.html
  spatch-core report scipy_dispatch --no-doctor
  spatch-core report scipy_dispatch --record run.json

Open the file in a browser; it needs no network and no server. It may contain private
information: names of packages, folders and versions.

Exit code 0 once it is written, even if it reports problems.""",
)
@click.argument("libraries", metavar="[LIBRARY]...", nargs=-1, shell_complete=complete_libraries)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True),
    callback=_in_a_folder,
    default="report.html",
    show_default=True,
    help="The file to write; an existing one is replaced.",
)
@click.option(
    "--record",
    "records",
    metavar="FILE",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="Show a run that hooks.record has recorded. Repeatable.",
)
@click.option(
    "--no-doctor",
    "is_quick",
    is_flag=True,
    help="Leave out the findings, which take the most time.",
)
@timeout_option
def report_command(
    libraries: tuple[str, ...],
    output: str,
    records: tuple[str, ...],
    is_quick: bool,
    timeout: float,
) -> None:
    """Run ``spatch-core report``."""
    chosen = [each for name in libraries or (None,) for each in chosen_libraries(name)]
    with naming():
        runs = [ReportedRun(Path(each).name, read_record(each)) for each in records]
    found = [_reported(each, is_quick, timeout) for each in dict.fromkeys(chosen)]
    made = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    with progress(f"writing {output}"):
        page = render(found, runs, made)
    # A file name may contain surrogates, which UTF-8 cannot encode.
    Path(output).write_text(page, encoding="utf-8", errors="xmlcharrefreplace")
    numbers = (
        (len(found), "library"),
        (sum(len(each.listed["backends"]) for each in found), "backend"),
        (sum(len(each.findings) for each in found), "finding"),
    )
    show([f"{output}: {', '.join(counted(number, noun) for number, noun in numbers)}"])


def _reported(library: Library, is_quick: bool, timeout: float) -> ReportedLibrary:
    examined = None
    default_name = DEFAULT
    if not is_quick:
        # First: its child processes report a library whose import ends this process.
        report = examine_library(library, timeout=timeout)
        examined, default_name = examined_as_json(report), report.default_name
    loaded = load_library(library)
    if loaded.system is None:
        return ReportedLibrary(listed_as_json(loaded), default_name, examined=examined)
    import_public_names(library)
    shown, listed = library_as_json(loaded), listed_as_json(loaded)
    if examined is not None:
        # Only doctor imports types, and so knows which are subclasses of the library's.
        states = {each["name"]: each["state"] for each in examined["backends"]}
        for each in listed["backends"]:
            if each["state"] == State.ACTIVE:
                each["state"] = states.get(each["name"], each["state"])
    names = [each["function"] for each in shown["functions"] if each["is_dispatchable"]]
    return ReportedLibrary(
        listed,
        loaded.shown(DEFAULT),
        shown,
        examined,
        what_runs(library, names, timeout=timeout),
    )
