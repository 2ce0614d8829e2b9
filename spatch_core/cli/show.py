"""``spatch-core show``: everything about one backend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from .._description import EVERY
from .._errors import Finding
from .._patterns import DEFAULT
from ..examination.backends import ListedBackend, list_backends
from ..examination.libraries import LoadedLibrary, import_public_names, load_library
from .arguments import (
    chosen_libraries,
    complete_backends,
    complete_libraries,
    json_option,
    no_backend,
)
from .findings import closing, counted
from .output import Cell, Column, Notes, Part, Table, show, show_json
from .records import distribution_text, show_as_json

_FIELDS = (Column("field"), Column("value", is_prose=True))
_FUNCTIONS = (
    Column("function"),
    Column("implementation"),
    Column("should_run"),
    Column("context"),
)
_EPILOG = """\b
Examples:
  spatch-core show opencv
  spatch-core show default --library scipy_dispatch --json

Exit code 1 if it has problems."""


@click.command("show", epilog=_EPILOG)
@click.argument("backend", shell_complete=complete_backends)
@click.option(
    "--library",
    metavar="NAME",
    shell_complete=complete_libraries,
    help="The library, if several have a backend of this name.",
)
@json_option
@click.pass_context
def show_command(context: click.Context, backend: str, library: str | None, as_json: bool) -> None:
    """Show everything about BACKEND.

    Its state, types, requirements and declarations, its place in the priority order with the
    reasons, its functions, its distribution, and its problems.
    """
    loaded, found = _find(backend, library)
    import_public_names(loaded.library)
    problems = [each for each in loaded.problems if each.backend == found.name]
    if as_json:
        show_json(show_as_json(loaded, found, problems))
    else:
        show(_parts(loaded, found, problems))
    context.exit(1 if problems else 0)


def _find(name: str, library: str | None) -> tuple[LoadedLibrary, ListedBackend]:
    """Find the backend of this name; of several in one library, the first."""
    libraries = [load_library(each) for each in chosen_libraries(library)]
    found = []
    names: list[str] = []
    for loaded in libraries:
        backends = list_backends(loaded)
        names += [loaded.shown(each.name) for each in backends]
        found += [
            (loaded, each) for each in backends if name in (each.name, loaded.shown(each.name))
        ][:1]
    if library is not None and libraries[0].fault is not None:
        raise click.ClickException(libraries[0].describe(libraries[0].fault))
    if not found:
        faults = [each.describe(each.fault) for each in libraries if each.fault is not None]
        raise no_backend(name, names, *faults)
    if len(found) > 1:
        options = " or ".join(f"--library {loaded.library.name}" for loaded, _ in found)
        raise click.UsageError(f"several libraries have a backend named {name!r}: add {options}")
    return found[0]


def _parts(loaded: LoadedLibrary, backend: ListedBackend, problems: list[Finding]) -> list[Part]:
    record = show_as_json(loaded, backend, problems)
    name = loaded.shown(backend.name)
    heading = f"{name}, a backend of {loaded.library.name}"
    if backend.name == DEFAULT:
        heading = f"{name}, the library {loaded.library.name} itself"
    parts: list[Part] = [heading, Table(_FIELDS, list(_fields(record, backend)))]
    if record["functions"]:
        rows = [
            (
                each["function"],
                _with_variant(each),
                each["should_run"] or "",
                "yes" if each["uses_context"] else "",
            )
            for each in record["functions"]
        ]
        parts += ["Functions", Table(_FUNCTIONS, rows)]
    served = record["every"] or ()
    parts.append(Notes(f"Served by {EVERY}", list(served)))
    values = [f"{name}: {value}" for name, value in (record["attributes"] or {}).items()]
    parts.append(Notes("Attributes", values))
    functions = record["functions"] or ()
    absent = [f"{name}: {reason}" for name, reason in (record["absent"] or {}).items()]
    parts.append(Notes("Not implemented for what is installed here", absent))
    parts.append(
        Notes(
            "Notes for users",
            [
                f"{each['function']}: {' '.join(each['additional_docs'].split())}"
                for each in functions
                if each["additional_docs"].strip()
            ],
        )
    )
    unknown = [each["function"] for each in functions if not each["is_dispatchable"]]
    parts.append(Notes("Not functions of the library", unknown))
    edges = [f"before {loaded.shown(e['after'])}: {e['reason']}" for e in record["before"] or ()]
    edges += [f"after {loaded.shown(e['before'])}: {e['reason']}" for e in record["after"] or ()]
    if record["order"]:
        parts += [
            f"Order: {', '.join(map(loaded.shown, record['order']))}",
            Notes("It goes", edges),
        ]
    own = [each for each in functions if each["function"] != EVERY]
    text = counted(len(own) + len(served), "function")
    return [*parts, *closing(text, (loaded.library.name, problems))]


def _fields(record: dict[str, Any], backend: ListedBackend) -> Iterator[tuple[str, Cell]]:
    yield "state", ": ".join(part for part in (record["state"], record["reason"]) if part)
    if backend.description is not None:
        yield "primary types", tuple(record["primary_types"])
        yield "secondary types", tuple(record["secondary_types"])
        yield "requires opt-in", "yes" if record["requires_opt_in"] else "no"
        for key in ("higher_priority_than", "lower_priority_than"):
            yield (
                key,
                tuple(
                    f"{name} (not followed)" if name in record["overridden"] else name
                    for name in record[key]
                ),
            )
        for key in ("to_default", "from_default", "copy_into"):
            if record[key] is not None:
                yield key, record[key]
        if record["requires"]:
            yield "requires", tuple(record["requires"])
        if record["url"]:
            yield "documentation", record["url"]
        if backend.name == DEFAULT:
            yield "fallback policy", record["fallback"]
        generation = record["auto_generation"]
        if generation is not None:
            modules = [f"with {module}" for module in generation["modules"]]
            yield "auto-generation", "\n".join([generation["backend"], *modules])
    if record["prioritized"]:
        yield "prioritized", "by the environment"
    yield "distribution", distribution_text(backend.source)
    yield "entry point", record["entry_point"] or ""
    yield "file", record["file"] or ""


def _with_variant(function: dict[str, Any]) -> str:
    """Return an implementation with the requirement of its variant."""
    variant = f" (for {function['variant']})" if function["variant"] else ""
    return f"{function['implementation']}{variant}"
