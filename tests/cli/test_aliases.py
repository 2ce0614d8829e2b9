"""The commands of the public package ``spatch`` by their names."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from spatch_core.cli import main
from spatch_core.cli.aliases import ALIASES

FINE = "name = 'oil'\nprimary_types = ['builtins:int']\n"


@pytest.mark.parametrize("name", ALIASES)
def test_an_alias_has_its_own_help_and_is_in_no_list(name: str) -> None:
    """Help and completion offer one name for each command."""
    runner = CliRunner()
    assert "Usage: " in runner.invoke(main, [name, "--help"]).output
    assert name not in runner.invoke(main, ["--help"]).output
    assert name not in main.list_commands(click.Context(main))


@pytest.mark.parametrize(
    ("words", "code", "verified"),
    [
        (["update-entrypoints"], 1, False),
        (["update-entrypoints", "--verify"], 1, False),
        (["verify-entrypoints"], 0, True),
    ],
)
def test_a_file_without_a_registry_is_verified_and_not_updated(
    tmp_path: Path, words: list[str], code: int, verified: bool
) -> None:
    """The exit code is that of the command; what cannot be updated is not verified either."""
    file = tmp_path / "oil.toml"
    file.write_text(FINE, encoding="utf-8")
    result = CliRunner().invoke(main, [*words, str(file)])
    assert result.exit_code == code, result.output
    assert ("fine" in result.output) is verified
    assert file.read_text(encoding="utf-8") == FINE
