"""The table of the README lists the functions of the backend; pytest runs its examples."""

from __future__ import annotations

import re
from pathlib import Path

from scipy_dispatch_threads._table import TABLE

README = Path(__file__).parents[1] / "README.md"


def test_the_table_names_every_function_once() -> None:
    section = README.read_text(encoding="utf-8").partition("## Functions")[2].partition("\n#")[0]
    rows = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", ", ".join(rows))) == sorted(TABLE)
