"""The examples of the README run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import doctest, sys
failures, tests = doctest.testfile(sys.argv[1], module_relative=False)
assert tests and not failures
"""


def test_the_examples_run() -> None:
    """In a process of its own: they set backends for all threads."""
    readme = Path(__file__).parents[1] / "README.md"
    subprocess.run([sys.executable, "-c", PROGRAM, str(readme)], check=True)
