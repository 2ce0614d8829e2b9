"""What all commands have in common: help, wrong usage, streams, completion, hooks, the extra."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click
import pytest
import yaml
from click.testing import CliRunner

from spatch_core.cli import main
from spatch_core.testing import write_distribution
from tests.cli.conftest import DEPENDENCIES
from tests.cli.test_update import BLEND, BLUR, HEAD, Project, text

if TYPE_CHECKING:
    from tests.cli.conftest import LinkPackages, Site


FINE = "name = 'oil'\nprimary_types = ['builtins:int']\n"
REPLACED = ("libraries", "functions", "order")


@pytest.mark.parametrize("arguments", [["list"], ["--help"]])
def test_without_the_extra_one_line_says_what_to_install(bare: Site, arguments: list[str]) -> None:
    """The environment has nothing but the package."""
    answer = bare.run(*arguments)
    assert answer.errors == (
        "spatch-core needs click, jinja2, packaging, rich, tomlkit for its command line: "
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
    text = " ".join(unknown.errors.split())
    assert "no library is named 'paintlib'; registered are: none; a library registers" in text
    assert f"paintlib = 'paintlib:system' in [project.entry-points.\"{group}\"]" in text
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explian"], "no command is named 'explian'; did you mean explain?"),
        (["zzz"], "commands are: "),
        *(([name, "x"], f"'{name}' has become `spatch-core ") for name in REPLACED),
    ],
)
def test_an_unknown_command_is_told_what_to_write(
    site: Site, arguments: list[str], message: str
) -> None:
    """A command that was replaced names the new one; it does nothing else."""
    answer = site.run(*arguments)
    assert message in answer.errors
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


@pytest.mark.parametrize(
    ("words", "code", "verified"),
    [
        (["update-entrypoints"], 1, False),
        (["update-entrypoints", "--verify"], 1, False),
        (["verify-entrypoints"], 0, True),
    ],
)
def test_names_of_the_public_package_work_and_are_in_no_list(
    tmp_path: Path, words: list[str], code: int, verified: bool
) -> None:
    """A file without a registry is verified and not updated; then it is not verified either."""
    assert words[0] not in main.list_commands(click.Context(main))
    file = tmp_path / "oil.toml"
    file.write_text(FINE, encoding="utf-8")
    result = CliRunner().invoke(main, [*words, str(file)])
    assert result.exit_code == code, result.output
    assert ("fine" in result.output) is verified
    assert file.read_text(encoding="utf-8") == FINE


NAMES = ["paintlib.filters.blend", "paintlib.filters.blur"]


@pytest.fixture
def shop(paint: Site, tmp_path: Path) -> Site:
    """The library, a noisy library, and the installed command."""
    write_distribution(
        paint.folder,
        "ink-lib",
        entry_points={"spatch_core.libraries": {"inklib": "inklib:system"}},
        files={"inklib.py": "import os, sys\nprint('noise', file=sys.stderr)\n1 / 0"},
    )
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "spatch-core"
    command.write_text(
        f"#!{sys.executable}\nimport runpy\nrunpy.run_module('spatch_core', run_name='__main__')\n",
        encoding="utf-8",
    )
    command.chmod(0o755)
    path = paint.variables({})["PATH"]
    paint.environment["PATH"] = f"{folder}:{path}"
    return paint


def complete(site: Site, shell: str, *words: str) -> tuple[list[str], str]:
    """Speak click's protocol like a shell's script; return the completions and all other output."""
    done = subprocess.run(
        ["spatch-core"],
        env=site.variables(
            {
                "_SPATCH_CORE_COMPLETE": f"{shell}_complete",
                "COMP_WORDS": "\n".join(words) if shell == "bash" else " ".join(words),
                "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
            }
        ),
        executable=shutil.which("spatch-core", path=site.environment["PATH"]),
        cwd=site.folder,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    lines = done.stdout.splitlines()
    if shell == "zsh":
        return lines[1::3], done.stderr
    return [line.partition(",")[2].partition("\t")[0] for line in lines if line], done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_for_the_command_as_it_is_installed(shop: Site, shell: str) -> None:
    """The script does not depend on how the command was called, nor on the shell."""
    answer = shop.run("completion", shell, PATH="/nowhere")
    assert f"_SPATCH_CORE_COMPLETE={shell}_complete" in answer.output
    assert "_spatch_core_completion" in answer.output
    assert (answer.code, answer.errors) == (0, "")


@pytest.mark.parametrize(
    ("shell", "words", "expected"),
    [
        pytest.param("bash", ["exp"], ["explain"], id="command"),
        pytest.param("fish", ["report", "paint"], ["paintlib"], id="library"),
        pytest.param("zsh", ["show", "oi"], ["oil"], id="backend"),
        pytest.param("bash", ["explain", "paintlib"], NAMES, id="function"),
        pytest.param("zsh", ["explain", NAMES[1], "fra"], ["fractions.Fraction"], id="type"),
        pytest.param("fish", ["explain", NAMES[1], "int", "--why-not", "o"], ["oil"], id="option"),
    ],
)
def test_names_are_completed(shop: Site, shell: str, words: list[str], expected: list[str]) -> None:
    """They have no colons, at which bash splits words; what libraries print is dropped."""
    assert complete(shop, shell, "spatch-core", *words) == (expected, "")


PRINTING = [
    pytest.param(["list", "paintlib"], id="list"),
    pytest.param(["completion", "bash"], id="completion"),
]


def print_into(
    file: IO[bytes], site: Site, arguments: list[str]
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [site.python, "-m", "spatch_core", *arguments],
        env=site.variables({}),
        stdin=subprocess.DEVNULL,
        stdout=file,
        stderr=subprocess.PIPE,
        check=False,
    )


@pytest.mark.parametrize("arguments", PRINTING)
def test_a_closed_pipe_is_survived(paint: Site, arguments: list[str]) -> None:
    """As in `spatch-core list | head -1`, with the reader gone from the start."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        done = print_into(pipe, paint, arguments)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is full")
@pytest.mark.parametrize("arguments", PRINTING)
def test_a_full_disk_is_told_in_one_line(paint: Site, arguments: list[str]) -> None:
    """A script must not take partial output for the whole."""
    with open("/dev/full", "wb") as full:
        done = print_into(full, paint, arguments)
    assert done.stderr == b"Error: [Errno 28] No space left on device\n"
    assert done.returncode == 1


def test_no_output_at_all_is_survived(paint: Site) -> None:
    """As in `spatch-core list >&-`."""
    command = f'exec "{paint.python}" -m spatch_core list paintlib >&-'
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env=paint.variables({}),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load(
        (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    )
}


def test_there_is_a_hook_for_each_check() -> None:
    """Each hook has the keys that pre-commit requires."""
    assert [*HOOKS] == ["spatch-core-update", "spatch-core-verify"]
    for hook in HOOKS.values():
        assert {"id", "name", "entry", "language", "description"} <= hook.keys()
        # They import the backend: an environment of their own would have nothing to import.
        assert hook["language"] == "system"


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_its_entry_tells_right_from_wrong(site: Site, tmp_path: Path, hook: dict[str, str]) -> None:
    """The hook checks the file that pre-commit appends, and writes nothing."""
    project = Project(site, tmp_path / "src")
    program, *arguments = hook["entry"].split()
    assert program == "spatch-core"
    for functions, code in ((BLEND + BLUR, 0), (BLEND + BLUR.replace("tools:ask", "tools:a"), 1)):
        before = text(HEAD, functions)
        project.file.write_text(before)
        assert site.run(*arguments, str(project.file)).code == code
        assert project.after == before
