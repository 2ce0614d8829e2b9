"""``spatch-core new-backend``: a backend package that installs and passes its own tests."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from inspect import Signature
from keyword import iskeyword
from pathlib import Path

import click

from .._dispatch_arguments import PLAIN, nature_of
from .._identifiers import DEFAULT, is_backend_name, split_identifier
from .._type_patterns import TypePattern
from ..examination.findings import Severity
from ..examination.foreign_code import foreign_code
from ..examination.importing import Importer
from ..examination.libraries import LoadedLibrary
from ..examination.packages import owners_of_packages, package_of
from ..examination.signatures import find_signature
from ..examination.suggestions import functions_near
from ..examination.type_check import check_pattern
from ..exceptions import IdentifierError
from .arguments import complete_functions, complete_libraries, json_option, usable_library
from .backend_package import NewBackend, is_package_name, write_files
from .findings import counted
from .output import Notes, show, show_json

_EPILOG = """\b
Examples:
  spatch-core new-backend scipy_dispatch gpu --type cupy:ndarray
  spatch-core new-backend scipy_dispatch gpu --type cupy:ndarray --minimal

The package has one function that defers, with the signature that the library's has. Its
tests pass as it is."""


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
    help="A type that the backend works with: module:qualname, ~ and @ before it allowed. "
    "May be given several times.",
)
@click.option(
    "--secondary-type",
    "secondary_types",
    metavar="PATTERN",
    multiple=True,
    callback=_patterns,
    help="A type that it accepts and converts. May be given several times.",
)
@click.option(
    "--function",
    metavar="IDENTIFIER",
    shell_complete=complete_functions,
    help="The library's function to implement as an example; by default the first plain one.",
)
@click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Where the new folder is made; by default here.",
)
@click.option(
    "--minimal",
    is_flag=True,
    help="Write one module with two conversions and one function: with fallback='convert' the "
    "conversions serve all other functions. The library's types are the secondary ones, unless "
    "others are given.",
)
@click.option("--opt-in", is_flag=True, help="Let it stay inactive until it is prioritized.")
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

    NAME is that of the backend. The package has its entry point, its description, an
    implementation of one function, tests and a README.
    """
    loaded = usable_library(library)
    secondary_types = tuple(each for each in secondary_types if each not in types)
    _check_types((*types, *secondary_types))
    backend = _design(loaded, name, types, secondary_types, function, opt_in)
    if minimal:
        backend = replace(backend, is_minimal=True)
        if not secondary_types and loaded.system is not None:
            # Calls that mix both types are converted, too.
            own = loaded.system.backends[DEFAULT].primary_types
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
            Notes("Types", list(_advice(loaded, backend))),
            f"{counted(len(files), 'file')} written",
        ]
    )


def _design(
    loaded: LoadedLibrary,
    name: str,
    types: tuple[TypePattern, ...],
    secondary_types: tuple[TypePattern, ...],
    function: str | None,
    opt_in: bool,
) -> NewBackend:
    system = loaded.system
    assert system is not None  # or it would not be usable
    library = loaded.library
    if system.group is None:
        raise click.UsageError(
            f"library {library.name!r} has no entry point group, so that no other package can "
            "offer backends for it"
        )
    installed = {*system.backends, *system._catalog().blocked}
    if name in installed:
        raise click.UsageError(
            f"library {library.name!r} has a backend named {name!r} already; choose another name"
        )
    distribution = library.source.distribution or library.name
    project = re.sub(r"[-_.]+", "-", f"{distribution}-{name}").strip("-").lower()
    package = re.sub(r"\W", "_", project)
    if project == re.sub(r"[-_.]+", "-", distribution).lower():
        raise click.UsageError(
            f"the package would be named {project!r}, as the library's own is; choose another NAME"
        )
    if not is_package_name(package):
        raise click.UsageError(f"no package can be named {package!r}; choose another NAME")
    identifier, signature = _example(loaded, function)
    return NewBackend(
        name=name,
        project=project,
        package=package,
        library=library.name,
        group=system.group,
        system=library.identifier,
        function=identifier,
        signature=signature,
        types=types,
        secondary_types=secondary_types,
        requirements=_requirements(distribution, (*types, *secondary_types)),
        requires_opt_in=opt_in,
    )


def _example(loaded: LoadedLibrary, wanted: str | None) -> tuple[str, Signature]:
    """Return the function to implement, and its signature."""
    functions = {} if loaded.system is None else loaded.system.functions
    if wanted is not None and wanted not in functions:
        near = functions_near(wanted, functions)
        hint = f"its functions are: {', '.join(sorted(functions))}"
        if near:
            hint = f"did you mean {' or '.join(near)}?"
        raise click.UsageError(
            f"library {loaded.library.name!r} has no function {wanted!r}; {hint}"
        )

    def is_odd(identifier: str) -> bool:
        """Whether it is a method, private, or a function whose calls give no results at once."""
        qualname = split_identifier(identifier)[1]
        default = functions[identifier].__wrapped__
        return "." in qualname or qualname.startswith("_") or nature_of(default) != PLAIN

    plain_first = sorted(functions, key=lambda each: (is_odd(each), each))
    for identifier in plain_first if wanted is None else [wanted]:
        signature = find_signature(functions[identifier].__wrapped__)
        if signature is not None and "<locals>" not in identifier:
            return identifier, signature
    raise click.UsageError(
        f"library {loaded.library.name!r} has no function whose signature can be found out"
        if wanted is None
        else f"the signature of {wanted!r} cannot be found out; choose another --function"
    )


def _check_types(patterns: Iterable[TypePattern]) -> None:
    """Refuse types that can never match, as far as their modules can be imported here.

    Raises
    ------
    click.BadParameter
        With what is meant.
    """
    importer = Importer([])
    for pattern in patterns:
        with foreign_code():
            found = list(check_pattern(pattern, importer, None))
        for each in found:
            if each.severity is Severity.ERROR:
                raise click.BadParameter(f"{each.message}. {each.remedy}")


def _requirements(library: str, types: Iterable[TypePattern]) -> tuple[str, ...]:
    """Return the distributions of the library and of the types, as far as they are installed."""
    owners = owners_of_packages()
    found = [library]
    for pattern in types:
        package = package_of(pattern.module)
        if package not in sys.stdlib_module_names:
            found += owners.get(package, ())[:1]
    return tuple(dict.fromkeys(found))


def _advice(loaded: LoadedLibrary, backend: NewBackend) -> Iterator[str]:
    owners = owners_of_packages()
    named = (*backend.types, *backend.secondary_types)
    for package in dict.fromkeys(package_of(each.module) for each in named):
        if package in owners or package in sys.stdlib_module_names:
            continue
        yield (
            f"{package} is not installed here, so its distribution is not known: add it to the "
            "dependencies in pyproject.toml"
        )
    system = loaded.system
    own = () if system is None else system.backends[DEFAULT].primary_types
    if not backend.requires_opt_in and {each.identifier for each in own} & {
        each.identifier for each in backend.types
    }:
        yield (
            "the library works with these types itself and goes first; --opt-in says that the "
            "backend runs only where it is prioritized"
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
