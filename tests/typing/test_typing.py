"""F10: everything is typed; mypy and pyright see it alike."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.conftest import FUNCTIONS, ODD, TYPE, Site, create

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
SOURCES = [ROOT, *(ROOT / "example_backends").glob("*/src")]


@pytest.mark.parametrize("file", ["correct.py", "wrong.py"])
@pytest.mark.parametrize(
    "checker",
    [["mypy", "--no-error-summary"], ["pyright", "--pythonpath", sys.executable]],
    ids=["mypy", "pyright"],
)
def test_types(checker: list[str], file: str) -> None:
    """The decorator keeps the signature, methods bind, wrong calls are errors."""
    if find_spec(checker[0]) is None:
        pytest.skip(f"{checker[0]} is not installed")
    done = subprocess.run(
        [sys.executable, "-m", *checker, str(HERE / file)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    text = done.stdout + done.stderr
    # What is wrong elsewhere is found where everything is checked.
    assert done.returncode in (0, 1), text
    assert [line for line in text.splitlines() if file in line and "error" in line] == [], text


def check_as_users_do(
    checker: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> subprocess.CompletedProcess[str]:
    """Check all files of a folder with no strict settings, and perhaps not every library."""
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    monkeypatch.chdir(folder)
    if checker == "mypy":
        options = ["--check-untyped-defs", "--disable-error-code=import-not-found"]
        options += ["--disable-error-code=import-untyped", "--follow-imports=silent"]
        monkeypatch.setenv("MYPYPATH", os.pathsep.join(map(str, SOURCES)))
    else:
        options = ["--pythonpath", sys.executable]
        settings = {"extraPaths": [str(each) for each in SOURCES], "reportMissingImports": "none"}
        Path("pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", checker, *options, "."],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_what_users_copy_from_the_docs_is_typed(
    checker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F10: the code of each page is a module."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        blocks = [block for block in blocks if not re.match(r"# \S+\.py\n", block)]  # whole files
        name = page.stem.replace("-", "_").lower()
        (tmp_path / f"page_{name}.py").write_text("\n".join(blocks), encoding="utf-8")
    done = check_as_users_do(checker, tmp_path, monkeypatch)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_new_backend_writes_is_typed(tmp_path: Path) -> None:
    """``mypy --strict`` and ruff find nothing in what `spatch-core new-backend` writes."""
    site = Site(tmp_path)
    site.install_library({"paintlib/filters.py": FUNCTIONS + ODD})
    made = {
        "water": [],
        "wax": ["--minimal"],
        "ink": ["--function", "paintlib.filters:asynchronous"],
        "oil": ["--function", "paintlib.filters:Image.blend", "--type", "~click.core:Command"],
    }
    for name, options in made.items():
        answer = create(site, name, *TYPE, *options)
        assert answer.code == 0, answer
    folders = [tmp_path / f"paint-lib-{name}" for name in made]
    path = os.pathsep.join(map(str, [*(each / "src" for each in folders), ROOT]))
    for command in (
        ["ruff", "check", "--no-cache"],
        ["ruff", "format", "--check", "--no-cache"],
        ["mypy", "--strict", "--follow-imports=silent", "--cache-dir", os.devnull],
    ):
        if find_spec(command[0]) is None:
            continue
        done = subprocess.run(
            [sys.executable, "-m", *command, *map(str, folders)],
            cwd=tmp_path,
            env={**os.environ, "MYPYPATH": path},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_mistakes_of_users_are_found(
    checker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F10: the types of the examples are known; nothing of theirs is `Any` by accident."""
    (tmp_path / "page.py").write_text(
        "import minimal\n"
        "options = minimal.backend_opts(trace=True)\n"
        "minimal.sqrt()\n"
        "options.trace.outcom\n"
        "minimal.backend_opts(priority='rough')\n",
        encoding="utf-8",
    )
    done = check_as_users_do(checker, tmp_path, monkeypatch)
    lines = re.findall(r"page\.py:(\d+).* error: ", done.stdout)
    assert sorted(set(lines)) == ["3", "4", "5"], done.stdout + done.stderr
