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

BLUR = "paintlib.filters:blur"
BLEND = "paintlib.filters:blend"


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


def complete_in_bash(site: Site, line: str) -> list[str]:
    """Let bash itself split a line into words before it asks for completions."""
    script = r"""
eval "$(spatch-core completion bash)"
_split() {  # what readline does: the characters of COMP_WORDBREAKS are words of their own
    local word
    COMP_WORDS=()
    while IFS= read -r word; do COMP_WORDS+=("$word"); done < <(
    "$PYTHON" -c 'import re, sys; print("\n".join(re.findall("[^ :=]+|[:=]", sys.argv[1])))' "$1"
    )
    [[ "$1" == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
}
_split "$LINE"
COMPREPLY=()
_spatch_core_completion spatch-core "${COMP_WORDS[COMP_CWORD]}"
printf '%s\n' "${COMPREPLY[@]}"
"""
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=site.variables({"LINE": line, "PYTHON": sys.executable}),
        cwd=site.folder,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    return done.stdout.split()


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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_completes_names(shop: Site, shell: str) -> None:
    """Commands, libraries and backends are completed."""
    assert complete(shop, shell, "spatch-core", "exp") == (["explain"], "")
    assert complete(shop, shell, "spatch-core", "report", "paint") == (["paintlib"], "")
    assert complete(shop, shell, "spatch-core", "show", "oi") == (["oil"], "")


def test_what_libraries_print_does_not_get_in_between(shop: Site) -> None:
    """The output of libraries is dropped, also if one of them fails."""
    names, errors = complete(shop, "zsh", "spatch-core", "explain", "paintlib")
    assert names == [BLEND, BLUR]
    assert errors == ""


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")


@needs_bash
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("spatch-core exp", ["explain"], id="command"),
        pytest.param("spatch-core show o", ["oil"], id="backend"),
        pytest.param("spatch-core show --library=pai", ["paintlib"], id="option"),
        pytest.param("spatch-core show --library=paintlib ", ["default", "oil"], id="next"),
        pytest.param(
            f"spatch-core explain {BLUR} a:b --type=fractions:Fr", ["Fraction"], id="typed option"
        ),
        pytest.param("spatch-core explain paintlib.f", [BLEND, BLUR], id="module"),
        pytest.param(
            f"spatch-core explain {BLUR} ", ["builtins:int", "fractions:Fraction"], id="types"
        ),
        pytest.param(
            f"spatch-core explain {BLUR} fractions:Fraction --why-not d", ["default"], id="after"
        ),
    ],
)
def test_bash_completes_what_it_splits_at_colons(
    shop: Site, line: str, expected: list[str]
) -> None:
    """Bash replaces only the last word, which starts after the colon."""
    assert complete_in_bash(shop, line) == expected
