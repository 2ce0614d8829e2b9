"""The README: its examples run, and its table lists the functions of the backend."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from tolerances import TOLERANCES

README = Path(__file__).parents[1] / "README.md"


def test_the_examples_run() -> None:
    failures, tests = doctest.testfile(str(README), module_relative=False)
    assert tests
    assert not failures


def test_the_table_names_every_function() -> None:
    section = README.read_text(encoding="utf-8").partition("## Functions")[2]
    rows = re.findall(r"^\| (.*?`[^|]*) \|", section.partition("\n#")[0], re.MULTILINE)
    named = set()
    for row in rows:
        functions = re.findall(r"`(\w+)`", row.partition("each with")[0])
        endings = ["", *re.findall(r"`(\w+)`", row.partition("each with")[2])]
        named |= {name + ending for name in functions for ending in endings}
    assert named - {"ndimage", "signal"} == {name.partition(".")[2] for name in TOLERANCES}
