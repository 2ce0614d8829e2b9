"""Completion: the scripts that shells load, and what they get to offer."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from spatch_core.testing import write_distribution

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Site

BLUR = "paintlib.filters.blur"
BLEND = "paintlib.filters.blend"


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


def test_an_unknown_shell_is_wrong_usage(site: Site) -> None:
    """The known ones are named."""
    answer = site.run("completion", "bsh")
    assert "bash" in answer.errors
    assert (answer.code, answer.output) == (2, "")


@pytest.mark.parametrize(
    ("shell", "words", "expected"),
    [
        pytest.param("bash", ["exp"], ["explain"], id="command"),
        pytest.param("fish", ["report", "paint"], ["paintlib"], id="library"),
        pytest.param("zsh", ["show", "oi"], ["oil"], id="backend"),
        pytest.param("bash", ["explain", "paintlib"], [BLEND, BLUR], id="function"),
        pytest.param("zsh", ["explain", BLUR, "fra"], ["fractions.Fraction"], id="type"),
        pytest.param("fish", ["explain", BLUR, "int", "--why-not", "o"], ["oil"], id="option"),
    ],
)
def test_names_are_completed(shop: Site, shell: str, words: list[str], expected: list[str]) -> None:
    """They have no colons, at which bash splits words; what libraries print is dropped."""
    assert complete(shop, shell, "spatch-core", *words) == (expected, "")
