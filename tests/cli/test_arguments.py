"""Checks of arguments that need no command."""

from __future__ import annotations

from fractions import Fraction

import click
import pytest

from spatch_core.cli.arguments import (
    checked_identifier,
    chosen_libraries,
    given_type_or_none,
    given_types,
    meant,
)

COMMAND = click.Command("explain")
TYPES = click.Argument(["types"])


def test_the_nearest_name_is_offered_or_all() -> None:
    assert meant("oli", ["oil", "chalk"], "installed") == "did you mean oil?"
    assert meant("zzz", ["oil", "chalk"], "installed") == "installed are: oil, chalk"
    assert meant("zzz", [], "installed") == "installed are: none"


def test_types_are_imported_unless_the_shell_asks() -> None:
    context = click.Context(COMMAND)
    (given,) = given_types(context, TYPES, ("fractions:Fraction",))
    assert given.type is Fraction
    assert given_type_or_none(context, TYPES, None) is None
    quick = click.Context(COMMAND, resilient_parsing=True)
    assert given_types(quick, TYPES, ("fractions:Fraction",)) == ()


@pytest.mark.parametrize("identifier", ["fractions", "fractions:Fractoin", "math:pi"])
def test_what_is_no_type_is_wrong_usage(identifier: str) -> None:
    with pytest.raises(click.BadParameter):
        given_types(click.Context(COMMAND), TYPES, (identifier,))


def test_identifiers_are_checked() -> None:
    context = click.Context(COMMAND)
    assert checked_identifier(context, TYPES, "a:b") == "a:b"
    with pytest.raises(click.BadParameter, match="module:qualname"):
        checked_identifier(context, TYPES, "a.b")


def test_an_unknown_library_is_wrong_usage() -> None:
    with pytest.raises(click.UsageError, match="no library is named 'no such library'"):
        chosen_libraries("no such library")
