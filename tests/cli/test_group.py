"""What all commands have in common, and what there is without the ``cli`` extra."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from spatch_core.cli import main
from tests.cli.conftest import DEPENDENCIES

if TYPE_CHECKING:
    from tests.cli.conftest import LinkPackages, Site

FINE = "name = 'oil'\nprimary_types = ['builtins:int']\n"


@pytest.mark.parametrize("arguments", [[], ["list"], ["explain", "a:b", "c:d"], ["--help"]])
def test_without_the_extra_one_line_says_what_to_install(bare: Site, arguments: list[str]) -> None:
    """The environment has nothing but the package."""
    answer = bare.run(*arguments)
    assert answer.errors == (
        "spatch-core needs click, jinja2, packaging, rich for its command line: "
        "pip install 'spatch-core[cli]', or '.[cli]' in a checkout\n"
    )
    assert (answer.code, answer.output) == (2, "")


def test_without_any_library_there_is_nothing_to_list(
    bare: Site, link_packages: LinkPackages
) -> None:
    """It is no problem, and the line says how a library registers. The extra is all it needs."""
    link_packages(bare, *DEPENDENCIES)
    answer = bare.run("list")
    group = "spatch_core.libraries"
    assert answer.output.startswith(f"No library is registered in the entry point group {group}")
    assert (answer.code, answer.errors) == (0, "")
    assert bare.run("list", "--json").json == {"libraries": []}
    unknown = bare.run("list", "paintlib")
    assert "no library is named 'paintlib'; registered are: none" in unknown.errors
    assert unknown.code == 2


def test_every_command_has_help_with_an_example(site: Site) -> None:
    """The examples name the command."""
    for name in main.commands:
        answer = site.run(name, "--help")
        assert re.search(f"Examples?:\n    spatch-core {name}", answer.output)
        assert answer.code == 0
    answer = site.run("--help")
    assert "Examples:\n    spatch-core list\n" in answer.output
    assert all(f"  {name} " in answer.output for name in main.commands)


def test_the_nearest_command_is_offered(site: Site) -> None:
    """Without a near one, all commands are listed."""
    assert "no command is named 'explian'; did you mean explain?" in site.run("explian").errors
    assert "commands are: " in site.run("zzz").errors


@pytest.mark.parametrize("name", ["libraries", "functions", "order"])
def test_a_command_that_was_replaced_names_the_new_one(site: Site, name: str) -> None:
    """It does nothing else."""
    answer = site.run(name, "paintlib")
    assert f"'{name}' has become `spatch-core " in answer.errors
    assert (answer.code, answer.output) == (2, "")


def test_help_needs_no_docstrings(site: Site) -> None:
    """PYTHONOPTIMIZE=2 removes them."""
    for arguments in (["--help"], ["doctor", "--help"]):
        answer = site.run(*arguments, PYTHONOPTIMIZE="2")
        assert answer.output == site.run(*arguments).output


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        *((line, 2) for line in (["lst"], ["list", "--jsn"], ["list", "a", "b"])),
        *((["list", "--json", each], 2) for each in ("nowhere", "--timeout=1")),
        (["explain", "nowhere:blur", "int", "--json"], 2),
        (["replay-check", "no.json", "--json"], 1),
    ],
)
def test_what_cannot_be_carried_out_prints_no_result(
    site: Site, arguments: list[str], code: int
) -> None:
    """Wrong usage ends with 2, with --json, too; the message is on standard error."""
    (site.folder / "no.json").write_text("[]")
    answer = site.run(*arguments)
    assert (answer.code, answer.output) == (code, "")
    assert "Error: " in answer.errors


def test_nothing_but_the_command_line_needs_the_extra() -> None:
    """Users of a library do not import it."""
    code = """
import sys
import spatch_core.__main__, spatch_core.backend_system, spatch_core.backend_utils
system = spatch_core.BackendSystem(None, "X")
system.backends
print([name for name in ("click", "rich") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", ["update-entrypoints", "verify-entrypoints"])
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
