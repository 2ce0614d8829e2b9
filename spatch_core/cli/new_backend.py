"""``spatch-core new-backend``: a new package of a backend, which passes its own tests."""

from __future__ import annotations

import re
import shlex
import sys
from ast import literal_eval
from collections.abc import Iterable, Iterator
from importlib.resources import files
from inspect import Parameter, Signature
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import click

from .._description import Severity
from .._errors import ended
from .._patterns import DEFAULT, TypePattern, is_backend_name, split_identifier
from .._wrapper import ASYNC_GENERATOR, COROUTINE, PLAIN, nature_of
from ..examination.checks import check_pattern
from ..examination.child import foreign_code
from ..examination.functions import find_signature
from ..examination.importing import (
    Importer,
    is_module_installed,
    owners_of_packages,
    package_of,
)
from ..examination.libraries import LoadedLibrary, are_covered, own_types
from ..examination.question import function_named, type_named, unknown_function
from ..exceptions import IdentifierError
from .arguments import (
    complete_functions,
    complete_libraries,
    json_option,
    naming,
    usable_library,
)
from .output import Notes, counted, show, show_json

if TYPE_CHECKING:
    from importlib.abc import Traversable

_WIDTH = 100
_PLACEHOLDER = "_DEFAULT"
_DEFINED = f"""
{_PLACEHOLDER}: Any = object()  # for a default of the library that has no literal
"""
_SHARED = ("README.md.template", "pyproject.toml.template", "test_package.py.template")
"""Templates of every package."""


def _patterns(
    context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[TypePattern, ...]:
    if context.resilient_parsing:  # the shell completes a line
        return ()
    try:
        patterns = tuple(dict.fromkeys(TypePattern(type_named(each)) for each in values))
    except IdentifierError as error:
        raise click.BadParameter(str(error)) from None
    for pattern in patterns:
        with foreign_code():
            found = [*check_pattern(pattern, Importer([]))]
        for each in found:
            if each.severity is Severity.ERROR:
                raise click.BadParameter(f"{ended(each.message)} {each.remedy}")
    return patterns


def _backend_name(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if not is_backend_name(value) or not value.isascii() or value == DEFAULT:
        raise click.BadParameter(
            f"{value!r} cannot name a backend; use letters, digits, '_', '.' and '-' "
            "('default' is the library's own name)"
        )
    return value


@click.command(
    "new-backend",
    help="""Write a complete backend package for LIBRARY.

NAME is the name of the backend. The package has an entry point, a description, an
implementation of one function, tests and a README.""",
    epilog="""\b
Examples:
  spatch-core new-backend scipy_dispatch gpu --type cupy.ndarray
  spatch-core new-backend scipy_dispatch gpu --type cupy:ndarray --minimal

The package implements one function, which defers, with the signature of the library's
function. Its tests pass unchanged.""",
)
@click.argument("library", shell_complete=complete_libraries)
@click.argument("name", callback=_backend_name)
@click.option(
    "--type",
    "types",
    metavar="PATTERN",
    multiple=True,
    required=True,
    callback=_patterns,
    help="A type that the backend works with, with an optional ~ or @. Repeatable.",
)
@click.option(
    "--function",
    metavar="FUNCTION",
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
    "conversions serve all other functions. The secondary types are the library's.",
)
@json_option
def new_backend_command(
    library: str,
    name: str,
    types: tuple[TypePattern, ...],
    function: str | None,
    directory: Path,
    minimal: bool,
    as_json: bool,
) -> None:
    """Run ``spatch-core new-backend``."""
    loaded = usable_library(library)
    project = _project(loaded, name)
    package = re.sub(r"\W", "_", project)
    own = own_types(loaded.usable)
    # With the library's types, calls that mix both kinds are converted, too.
    secondary = tuple(each for each in own if minimal and each not in types)
    patterns = (*types, *secondary)
    others = [each for each in patterns if package_of(each.module) != package]
    # The library works with all its types itself, and goes first.
    opt_in = are_covered(patterns, own)
    identifier, signature = _example(loaded, function)
    system_module, system_qualname = split_identifier(loaded.library.identifier)
    implementation = split_identifier(identifier)[1].rpartition(".")[2]
    nature = nature_of(loaded.usable.functions[identifier].__wrapped__)
    start = "async def" if nature in (COROUTINE, ASYNC_GENERATOR) else "def"
    definition = _definition(implementation, signature, start)
    when = "It runs for them wherever it is installed."
    if opt_in:
        when = (
            f'It runs only where it is prioritized: with `prioritize="{name}"` in the library\'s '
            f"`backend_opts`, or with `{loaded.usable.environ_prefix}_PRIORITIZE={name}` in the "
            "environment."
        )
    if minimal:
        when += ' Its conversions serve all other functions, with `fallback="convert"`.'
    values = {
        "name": name,
        "project": project,
        "package": package,
        "library": library,
        "group": loaded.usable.group or "",
        "function": identifier,
        "implementation": implementation,
        "code": "__init__" if minimal else "functions",
        "system_module": system_module,
        "system_qualname": system_qualname,
        "types": _array(map(str, types)),
        "secondary": f"secondary_types = {_array(map(str, secondary))}\n" if secondary else "",
        "types_in_words": ", ".join(f"`{each.identifier}`" for each in types),
        "type": types[0].identifier,
        "requirements": _array(_requirements(loaded, others)),
        "opt_in": "requires_opt_in = true\n" if opt_in else "",
        "when": when,
        "definition": definition,
        "ending": "\n    yield" if nature == ASYNC_GENERATOR else "",
        "placeholder": _DEFINED if _PLACEHOLDER in definition else "",
    }
    folder, texts = directory / project, _files(values, minimal)
    _define([e for e in types if e not in others and e.qualname.isidentifier()], texts)
    _write(folder, texts)
    if as_json:
        made = {"project": project, "package": package, "function": identifier}
        show_json({"folder": str(folder), **made, "files": list(texts)})
        return
    commands = [f"cd {shlex.quote(str(folder))}", "pip install -e '.[test]'", "pytest"]
    show(
        [
            f"{project}: the backend {name} for {library}, in {folder}",
            Notes("Files", list(texts)),
            Notes("Next", commands, are_commands=True),
            Notes("Types", list(_advice(others, opt_in))),
            f"{counted(len(texts), 'file')} written",
        ]
    )


# The design


def _project(loaded: LoadedLibrary, name: str) -> str:
    """Return the name of the new distribution, unless the library cannot have the backend."""
    system, library = loaded.usable, loaded.library
    if system.group is None:
        raise click.UsageError(
            f"library {library.name!r} has no entry point group, so no other package can "
            "offer backends for it"
        )
    if name in {*system.backends, *system._catalog().blocked}:
        raise click.UsageError(
            f"library {library.name!r} has a backend named {name!r} already; choose another name"
        )
    distribution = library.source.distribution or library.name
    return re.sub(r"[-_.]+", "-", f"{distribution}-{name}").strip("-").lower()


def _example(loaded: LoadedLibrary, wanted: str | None) -> tuple[str, Signature]:
    """Return the function to implement, and its signature."""
    functions = loaded.usable.functions

    def is_odd(identifier: str) -> bool:
        """Whether a function is a poor example: a method, private, a coroutine or a generator."""
        qualname = split_identifier(identifier)[1]
        default = functions[identifier].__wrapped__
        return "." in qualname or qualname.startswith("_") or nature_of(default) != PLAIN

    names = sorted(functions, key=lambda each: (is_odd(each), each))
    if wanted is not None:
        with naming():
            found = function_named(wanted, [loaded])
            if found is None:
                raise unknown_function(wanted, [loaded])
        names = [found[1]]
    for identifier in names:
        signature = find_signature(functions[identifier].__wrapped__)
        if signature is not None and "<locals>" not in identifier:
            return identifier, signature
    what = f"no signature of a function of {loaded.library.name!r}"
    if wanted is not None:
        what = f"no signature of {wanted!r}"
    raise click.UsageError(f"{what} can be determined; choose another --function")


def _requirements(loaded: LoadedLibrary, patterns: Iterable[TypePattern]) -> tuple[str, ...]:
    """Return the distributions of the library and of the installed types, and this one."""
    owners = owners_of_packages()
    found = [loaded.library.source.distribution or loaded.library.name]
    for package in _packages(patterns):
        found += owners.get(package, ())[:1]
    return tuple(dict.fromkeys([*found, "spatch-core"]))


def _advice(patterns: Iterable[TypePattern], opt_in: bool) -> Iterator[str]:
    """Yield advice for the author about the types."""
    owners = owners_of_packages()
    for package in _packages(patterns):
        if package not in owners:
            is_here = is_module_installed(package)
            what = "is of no known distribution" if is_here else "is not installed here"
            yield (
                f"{package} {what}, so it is not among the dependencies in pyproject.toml: add its "
                "distribution"
            )
    if opt_in:
        yield (
            "the library works with these types itself, so the backend requires opt-in: it runs "
            "only where it is prioritized"
        )


def _packages(patterns: Iterable[TypePattern]) -> list[str]:
    """Return the packages of types, without those of Python itself."""
    found = dict.fromkeys(package_of(each.module) for each in patterns)
    return [each for each in found if each not in sys.stdlib_module_names]


# The files


def _files(values: dict[str, str], is_minimal: bool) -> dict[str, str]:
    """Return the text of each file, by path in the new folder."""
    folder = files(__name__.rpartition(".")[0]) / "templates"
    templates: dict[str, Traversable] = {e.name: e for e in folder.iterdir() if e.is_file()}
    if is_minimal:
        own = (folder / "minimal").iterdir()
        templates = {name: templates[name] for name in _SHARED} | {each.name: each for each in own}
    source = f"src/{values['package']}"
    folders = {"pyproject.toml": "", "README.md": "", "test_package.py": "tests/"}
    texts = {f"{source}/py.typed": ""}
    for each, template in templates.items():
        name = each.removesuffix(".template")
        path = folders.get(name, f"{source}/") + name.replace("package", values["package"])
        texts[path] = Template(template.read_text("utf-8")).substitute(values)
    return dict(sorted(texts.items()))


def _define(types: Iterable[TypePattern], texts: dict[str, str]) -> None:
    """Add types of the new package itself to the texts of their modules."""
    for each in types:
        path = f"src/{each.module.replace('.', '/')}"
        file = f"{path}/__init__.py" if f"{path}/__init__.py" in texts else f"{path}.py"
        before = f"{texts[file]}\n\n" if file in texts else ""
        comment = '"""The backend works with its instances."""'
        texts[file] = f"{before}class {each.qualname}:\n    {comment}\n"


def _definition(name: str, signature: Signature, start: str) -> str:
    """Return the head of a function; ``_DEFAULT`` stands for defaults without a literal."""
    texts = [*_parameters(signature)]
    head = f"{start} {name}({', '.join(texts)}) -> Any:"
    if len(head) > _WIDTH:
        lines = "".join(f"    {text},\n" for text in texts)
        head = f"{start} {name}(\n{lines}) -> Any:"
    return head


def _parameters(signature: Signature) -> Iterator[str]:
    """Yield the code of each parameter, and the marks between their kinds."""
    stars: dict[object, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
    before = None
    for each in signature.parameters.values():
        if before is Parameter.POSITIONAL_ONLY is not each.kind:
            yield "/"
        if each.kind is Parameter.KEYWORD_ONLY and before not in (each.kind, each.VAR_POSITIONAL):
            yield "*"
        default = "" if each.default is each.empty else f" = {_literal(each.default)}"
        yield f"{stars.get(each.kind, '')}{each.name}: Any{default}"
        before = each.kind
    if before is Parameter.POSITIONAL_ONLY:
        yield "/"


def _literal(value: Any) -> str:
    """Return the literal of a value, or the placeholder if it has none."""
    text = repr(value)
    try:
        if literal_eval(text) != value:
            return _PLACEHOLDER
    except (ValueError, SyntaxError, TypeError):  # also an infinite float
        return _PLACEHOLDER
    return text if '"' in text or "\\" in text else text.replace("'", '"')


def _array(texts: Iterable[str]) -> str:
    """Return texts without special characters as an array of TOML."""
    quoted = [f'"{each}"' for each in texts]
    line = f"[{', '.join(quoted)}]"
    return line if len(line) <= 80 else "[\n" + "".join(f"    {each},\n" for each in quoted) + "]"


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write a new folder with all its files."""
    if folder.exists():
        raise click.UsageError(
            f"{folder} exists already, and nothing is overwritten; remove it, or choose another "
            "--directory"
        )
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
