"""What commands take: identifiers, and types, imported where possible or else stood in for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import click

from .._identifiers import import_identifier, split_identifier
from ..exceptions import IdentifierError
from ._libraries import foreign_code, import_failure


@dataclass(frozen=True, slots=True)
class GivenType:
    """A type that somebody named.

    Parameters
    ----------
    identifier : str
        As it was given.
    type : type
        The type itself, or a stand-in of the same module and qualname.
    note : str
        What people have to know about the stand-in; empty for the type itself.
    """

    identifier: str
    type: type
    note: str = ""


def checked_identifier(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Check the form of an identifier; a click callback."""
    try:
        split_identifier(value)
    except IdentifierError as error:
        raise click.BadParameter(str(error)) from None
    return value


def given_types(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[GivenType, ...]:
    """Import the types that identifiers name, or stand in for them; a click callback."""
    return tuple(_given_type(checked_identifier(context, parameter, value)) for value in values)


def _given_type(identifier: str) -> GivenType:
    module, qualname = split_identifier(identifier)
    failure = import_failure(module)
    if failure:
        note = (
            f"{failure}, so a class of the same name stands in for {identifier}: without its "
            "base classes, and without other names for it"
        )
        return GivenType(identifier, _stand_in(module, qualname), note)
    try:
        with foreign_code():
            found = import_identifier(identifier)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a third party's attribute hook
        raise click.BadParameter(str(error)) from None
    if not isinstance(found, type):
        raise click.BadParameter(f"{identifier} is not a type, but {found!r}")
    return GivenType(identifier, found)


@cache
def _stand_in(module: str, qualname: str) -> type:
    """Make a class of this module and qualname, always the same one."""
    name = qualname.rpartition(".")[2]
    return type(name, (), {"__module__": module, "__qualname__": qualname})
