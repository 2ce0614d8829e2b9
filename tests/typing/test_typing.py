"""F12: everything is typed; mypy and pyright see it alike."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


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
