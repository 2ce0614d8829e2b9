"""``spatch-core new-backend``: a new package of a backend, which passes its own tests."""

from __future__ import annotations

import shlex
from dataclasses import replace
from keyword import iskeyword
from pathlib import Path

import click

from .._patterns import DEFAULT, TypePattern, is_backend_name
from ..exceptions import IdentifierError
from .arguments import complete_functions, complete_libraries, json_option, usable_library
from .backend_design import advice, check_types, design
from .backend_package import write_files
from .findings import counted
from .output import Notes, show, show_json

_EPILOG = """\b
Examples:
  spatch-core new-backend scipy_dispatch gpu --type cupy:ndarray
  spatch-core new-backend scipy_dispatch gpu --type cupy:ndarray --minimal

The package implements one function, which defers, with the signature of the library's
function. Its tests pass unchanged."""


def _patterns(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[TypePattern, ...]:
    try:
        patterns = tuple(dict.fromkeys(map(TypePattern, values)))
    except IdentifierError as error:
        raise click.BadParameter(str(error)) from None
    for pattern in patterns:
        parts = f"{pattern.module}.{pattern.qualname}".split(".")
        if "<locals>" in parts or any(map(iskeyword, parts)):
            raise click.BadParameter(f"{str(pattern)!r} is a type that no module can import")
    return patterns


def _backend_name(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if not is_backend_name(value) or not value.isascii() or value == DEFAULT:
        raise click.BadParameter(
            f"{value!r} cannot name a backend; use letters, digits, '_', '.' and '-' "
            "('default' is the library's own name)"
        )
    return value


@click.command("new-backend", epilog=_EPILOG)
@click.argument("library", shell_complete=complete_libraries)
@click.argument("name", callback=_backend_name)
@click.option(
    "--type",
    "types",
    metavar="PATTERN",
    multiple=True,
    required=True,
    callback=_patterns,
    help="A type that the backend works with, module:qualname, with an optional ~ or @. "
    "Repeatable.",
)
@click.option(
    "--secondary-type",
    "secondary_types",
    metavar="PATTERN",
    multiple=True,
    callback=_patterns,
    help="A type that the backend accepts and converts. Repeatable.",
)
@click.option(
    "--function",
    metavar="IDENTIFIER",
    shell_complete=complete_functions,
    help="The function that the example implements; by default, the first function that is not a "
    "method, a coroutine or a generator. Add others in functions.py.",
)
@click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="The parent of the new folder; by default, the current folder.",
)
@click.option(
    "--minimal",
    is_flag=True,
    help="Write one module with two conversions and one function. With fallback='convert', the "
    "conversions serve all other functions. The secondary types are by default the library's.",
)
@click.option(
    "--opt-in",
    is_flag=True,
    help="Require opt-in: the backend is inactive until it is prioritized.",
)
@json_option
def new_backend_command(
    library: str,
    name: str,
    types: tuple[TypePattern, ...],
    secondary_types: tuple[TypePattern, ...],
    function: str | None,
    directory: Path,
    minimal: bool,
    opt_in: bool,
    as_json: bool,
) -> None:
    """Write a complete backend package for LIBRARY.

    NAME is the name of the backend. The package has an entry point, a description, an
    implementation of one function, tests and a README.
    """
    loaded = usable_library(library)
    secondary_types = tuple(each for each in secondary_types if each not in types)
    check_types((*types, *secondary_types))
    backend = design(loaded, name, types, secondary_types, function, opt_in)
    if minimal:
        backend = replace(backend, is_minimal=True)
        if not secondary_types:
            # So that calls that mix both types are converted, too.
            own = loaded.usable.backends[DEFAULT].primary_types
            backend = replace(backend, secondary_types=tuple(e for e in own if e not in types))
    folder = directory / backend.project
    files = backend.files()
    _write(folder, files)
    if as_json:
        show_json(
            {
                "folder": str(folder),
                "project": backend.project,
                "package": backend.package,
                "function": backend.function,
                "files": list(files),
            }
        )
        return
    commands = [f"cd {shlex.quote(str(folder))}", "pip install -e '.[test]'", "pytest"]
    show(
        [
            f"{backend.project}: the backend {name} for {library}, in {folder}",
            Notes("Files", list(files)),
            Notes("Next", commands, are_commands=True),
            Notes("Types", list(advice(loaded, backend))),
            f"{counted(len(files), 'file')} written",
        ]
    )


def _write(folder: Path, texts: dict[str, str]) -> None:
    if folder.exists():
        raise click.UsageError(
            f"{folder} exists already, and nothing is overwritten; remove it, or choose another "
            "--directory"
        )
    try:
        write_files(folder, texts)
    except OSError as error:
        raise click.ClickException(
            f"{folder} cannot be written ({error}); choose another --directory"
        ) from None
