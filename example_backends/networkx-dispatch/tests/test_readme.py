"""The examples of the README run."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_the_examples_run() -> None:
    failures, tests = doctest.testfile(
        str(Path(__file__).parents[1] / "README.md"), module_relative=False
    )
    assert tests
    assert not failures
