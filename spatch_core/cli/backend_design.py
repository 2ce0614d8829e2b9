"""The design of a new backend: names, example function and requirements, from its library."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from inspect import Signature

import click

from .._errors import Severity
from .._patterns import DEFAULT, TypePattern, split_identifier
from .._wrapper import PLAIN, nature_of
from ..examination.checks import check_pattern
from ..examination.child import foreign_code
from ..examination.importing import Importer, functions_near, owners_of_packages, package_of
from ..examination.libraries import LoadedLibrary
from ..examination.signatures import find_signature
from .backend_package import NewBackend, is_package_name

MAX_LISTED = 20
"""The most functions that an error lists."""


def design(
    loaded: LoadedLibrary,
    name: str,
    types: tuple[TypePattern, ...],
    secondary_types: tuple[TypePattern, ...],
    function: str | None,
    opt_in: bool,
) -> NewBackend:
    """Return the design of the backend `name` for a library.

    Raises
    ------
    click.UsageError
        If other packages cannot offer backends for the library, or the name is taken.
    """
    system, library = loaded.usable, loaded.library
    if system.group is None:
        raise click.UsageError(
            f"library {library.name!r} has no entry point group, so no other package can "
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
        environ_prefix=system.environ_prefix,
        system=library.identifier,
        function=identifier,
        signature=signature,
        types=types,
        secondary_types=secondary_types,
        requirements=_requirements(distribution, (*types, *secondary_types)),
        requires_opt_in=opt_in or has_own_types(loaded, types),
    )


def _example(loaded: LoadedLibrary, wanted: str | None) -> tuple[str, Signature]:
    """Return the function to implement, and its signature."""
    functions = loaded.usable.functions
    if wanted is not None and wanted not in functions:
        name = wanted.rpartition(":")[2].rpartition(".")[2]
        near = functions_near(wanted, functions) or [
            each for each in sorted(functions) if each.endswith((f":{name}", f".{name}"))
        ]
        hint = f"its functions are: {', '.join(sorted(functions))}"
        if len(functions) > MAX_LISTED:
            hint = f"`spatch-core functions {loaded.library.name}` lists all {len(functions)}"
        if near:
            hint = f"did you mean {' or '.join(near)}?"
        raise click.UsageError(
            f"library {loaded.library.name!r} has no function {wanted!r}; {hint}"
        )

    def is_odd(identifier: str) -> bool:
        """Whether a function is a poor example: a method, private, a coroutine or a generator."""
        qualname = split_identifier(identifier)[1]
        default = functions[identifier].__wrapped__
        return "." in qualname or qualname.startswith("_") or nature_of(default) != PLAIN

    plain_first = sorted(functions, key=lambda each: (is_odd(each), each))
    for identifier in plain_first if wanted is None else [wanted]:
        signature = find_signature(functions[identifier].__wrapped__)
        if signature is not None and "<locals>" not in identifier:
            return identifier, signature
    raise click.UsageError(
        f"library {loaded.library.name!r} has no function whose signature can be determined"
        if wanted is None
        else f"the signature of {wanted!r} cannot be determined; choose another --function"
    )


def check_types(patterns: Iterable[TypePattern]) -> None:
    """Reject types that can never match, if their modules can be imported.

    Raises
    ------
    click.BadParameter
        The first fault, with its remedy.
    """
    importer = Importer([])
    for pattern in patterns:
        with foreign_code():
            found = list(check_pattern(pattern, importer))
        for each in found:
            if each.severity is Severity.ERROR:
                raise click.BadParameter(f"{each.message}. {each.remedy}")


def _requirements(library: str, types: Iterable[TypePattern]) -> tuple[str, ...]:
    """Return the distributions of the library and of the installed types."""
    owners = owners_of_packages()
    found = [library]
    for pattern in types:
        package = package_of(pattern.module)
        if package not in sys.stdlib_module_names:
            found += owners.get(package, ())[:1]
    return tuple(dict.fromkeys(found))


def advice(loaded: LoadedLibrary, backend: NewBackend) -> Iterator[str]:
    """Yield advice for the author about the types."""
    owners = owners_of_packages()
    named = (*backend.types, *backend.secondary_types)
    for package in dict.fromkeys(package_of(each.module) for each in named):
        if package in owners or package in sys.stdlib_module_names:
            continue
        yield (
            f"{package} is not installed here, so its distribution is not known: add it to the "
            "dependencies in pyproject.toml"
        )
    if has_own_types(loaded, backend.types):
        yield (
            "the library works with these types itself, so the backend requires opt-in: it runs "
            "only where it is prioritized"
        )


def has_own_types(loaded: LoadedLibrary, types: Iterable[TypePattern]) -> bool:
    """Whether the library works with all these types itself."""
    own = {each.identifier for each in loaded.usable.backends[DEFAULT].primary_types}
    return {each.identifier for each in types} <= own
