"""The examples of the README run, in a process of their own."""

import subprocess
import sys
from pathlib import Path


def test_the_examples_run() -> None:
    file = Path(__file__).parents[1] / "README.md"
    subprocess.run([sys.executable, "-m", "doctest", str(file)], check=True)
