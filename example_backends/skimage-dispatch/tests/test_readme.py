"""The examples of the README run."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_the_examples_run() -> None:
    readme = str(Path(__file__).parents[1] / "README.md")
    failures, tests = doctest.testfile(readme, module_relative=False)
    assert tests
    assert not failures
