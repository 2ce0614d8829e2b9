"""What is written for the public package ``spatch`` runs, but for the import."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import spatch_core
from spatch_core.testing import run_python, write_distribution

ROOT = Path(spatch_core.__file__).parents[1]
PAGE = ROOT / "docs" / "how-to" / "migrating.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="only a checkout has the docs")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The files of the page, installed, with the other import."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^```\w+\n# (\S+\.\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    files = {name: re.sub(r"\bspatch\.", "spatch_core.", content) for name, content in found}
    assert len(files) == 5
    assert sum("spatch_core" in content for content in files.values()) == 3
    write_distribution(tmp_path, "tones", files=files)
    write_distribution(
        tmp_path,
        "tones-exact",
        entry_points={"tones.backends": {"exact": "tones_exact:exact.toml"}},
    )
    return tmp_path


def run_command(site: Path, *words: str) -> str:
    """Run a command of the page on the backend's file; return what it prints."""
    for package in ("click", "jinja2", "rich", "tomlkit"):
        pytest.importorskip(package)
    file = str(site / "tones_exact" / "exact.toml")
    code = f"""
        import runpy, sys
        sys.argv[1:] = {[*words, file]!r}
        runpy.run_module("spatch_core", run_name="__main__", alter_sys=True)
    """
    done = run_python(code, path=[site, ROOT], check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_adopters_library_backend_and_program_run_but_for_the_import(site: Path) -> None:
    """D3: the description is written by the command, under its public name."""
    run_command(site, "update-entrypoints")
    written = (site / "tones_exact" / "exact.toml").read_text(encoding="utf-8")
    assert '[functions."tones:mix"]' in written
    assert 'should_run = "tones_exact:mix._should_run"' in written
    run_command(site, "verify-entrypoints")
    program = (site / "program.py").read_text(encoding="utf-8")
    run_python(program, path=[site, ROOT], options=["-W", "error"])


def test_the_command_that_updates_can_verify(site: Path) -> None:
    """After the table of what was updated comes that of what was verified."""
    printed = run_command(site, "update-entrypoints", "--verify")
    assert printed.count("exact.toml") > run_command(site, "update-entrypoints").count("exact.toml")


def test_an_adopters_test_runs_but_for_the_import(site: Path) -> None:
    """With a backend that answers for every function of its methods' names."""
    code = "import test_tones; test_tones.test_floats()"
    run_python(code, path=[site, ROOT], options=["-W", "error"])
