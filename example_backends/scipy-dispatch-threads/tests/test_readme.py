"""The README: its examples run, and its table lists the functions of the backend."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from scipy_dispatch_threads._table import TABLE

README = Path(__file__).parents[1] / "README.md"


def test_the_examples_run() -> None:
    failures, tests = doctest.testfile(str(README), module_relative=False)
    assert tests
    assert not failures


def test_the_table_names_every_function_once() -> None:
    section = README.read_text(encoding="utf-8").partition("## Functions")[2].partition("\n#")[0]
    rows = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", ", ".join(rows))) == sorted(TABLE)
