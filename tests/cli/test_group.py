"""What all commands have in common, and what there is without the ``cli`` extra."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import spatch_core
from spatch_core import __main__
from spatch_core.cli import main
from spatch_core.examination import libraries
from tests.cli.conftest import DEPENDENCIES

if TYPE_CHECKING:
    from tests.cli.conftest import LinkPackages, Site

# What click and rich need, where they are installed.


@pytest.mark.parametrize("arguments", [[], ["list"], ["explain", "a:b", "c:d"], ["--help"]])
def test_without_the_extra_one_line_says_what_to_install(bare: Site, arguments: list[str]) -> None:
    """In an environment that has nothing but the package."""
    answer = bare.run(*arguments)
    assert answer.errors == (
        "spatch-core needs click and rich for its command line: pip install 'spatch-core[cli]'\n"
    )
    assert (answer.code, answer.output) == (2, "")


def test_half_of_the_extra_is_not_enough(bare: Site, link_packages: LinkPackages) -> None:
    """The line names what is missing."""
    link_packages(bare, "click")
    answer = bare.run("list")
    assert answer.errors.startswith("spatch-core needs rich for its command line: pip install ")
    assert answer.code == 2


def test_click_and_rich_are_enough(bare: Site, link_packages: LinkPackages) -> None:
    """In a terminal, too; tomlkit is needed where a file is written."""
    link_packages(bare, *DEPENDENCIES)
    answer = bare.run_in_terminal("list")
    assert answer.output.startswith("\x1b[1mNo library is registered")
    assert (answer.code, answer.errors) == (0, "")


def test_the_missing_extra_is_noticed_before_it_is_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same in this process, whatever it has."""
    monkeypatch.setattr(__main__, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_without_any_library_there_is_nothing_to_list(
    bare: Site, link_packages: LinkPackages
) -> None:
    """That is no problem, and the line says how a library would get there."""
    link_packages(bare, *DEPENDENCIES)
    answer = bare.run("list")
    group = "spatch_core.libraries"
    assert answer.output == f"No library is registered in the entry point group {group}.\n"
    assert (answer.code, answer.errors) == (0, "")
    assert bare.run("list", "--json").json == {"libraries": []}
    unknown = bare.run("list", "paintlib")
    assert "no library is named 'paintlib'; registered are: none" in unknown.errors
    assert unknown.code == 2


def test_an_empty_list_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in this process, whatever is installed."""
    monkeypatch.setattr(libraries, "entry_points", lambda group: ())
    result = CliRunner().invoke(main, ["list"])
    assert result.output.startswith("No library is registered")
    assert result.exit_code == 0


def test_every_command_has_help_with_an_example(site: Site) -> None:
    """The examples name the command."""
    for name in main.commands:
        answer = site.run(name, "--help")
        assert re.search(f"Examples?:\n    spatch-core {name}", answer.output)
        assert answer.code == 0
    answer = site.run("--help")
    assert "Examples:\n    spatch-core list\n" in answer.output
    assert all(f"  {name} " in answer.output for name in main.commands)


def test_the_version_is_the_packages(site: Site) -> None:
    """For reports of bugs."""
    assert site.run("--version").output == f"spatch-core, version {spatch_core.__version__}\n"


def test_the_nearest_command_is_offered(site: Site) -> None:
    """Or all of them."""
    assert "no command is named 'explian'; did you mean explain?" in site.run("explian").errors
    assert "commands are: " in site.run("zzz").errors


@pytest.mark.parametrize("arguments", [["lst"], ["list", "--jsn"], ["list", "a", "b"]])
def test_wrong_usage_ends_with_two(site: Site, arguments: list[str]) -> None:
    """And prints nothing that a script may take for a result."""
    answer = site.run(*arguments)
    assert (answer.code, answer.output) == (2, "")
    assert "Error: " in answer.errors


def test_nothing_but_the_command_line_needs_the_extra() -> None:
    """A library's users never pay for it."""
    code = """
import sys
import spatch_core.__main__, spatch_core.backend_system, spatch_core.backend_utils
system = spatch_core.BackendSystem(None, "X")
system.backends
print([name for name in ("click", "rich") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
