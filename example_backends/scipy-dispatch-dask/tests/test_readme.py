"""The tables of the README list the functions of the backend; pytest runs its examples."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tolerances import MARKS, TOLERANCES

from scipy_dispatch_dask._table import TABLES

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.parametrize("module", TABLES)
def test_the_tables_name_every_function_once(module: str) -> None:
    section = README.read_text(encoding="utf-8").partition(f"### `{module}`")[2]
    rows = re.findall(r"^\| (`[^|]*) \|", section.partition("\n#")[0], re.MULTILINE)
    functions = ", ".join(rows).partition("\n")[0]
    named = re.findall(r"`(\w+)`", functions)
    assert sorted(named) == sorted(TABLES[module])


def test_the_tables_have_the_tested_tolerances() -> None:
    """Each footnote has the tested numbers, and each function has its footnote."""
    text = README.read_text(encoding="utf-8")
    for mark, kinds in MARKS.items():
        (cell,) = re.findall(rf"^\| {mark} \| ([^|]*) \|", text, re.MULTILINE)
        numbers = [float(each) for each in re.findall(r"1e-\d+", cell)] or [0.0, 0.0]
        assert numbers == [kinds["single"].rtol, kinds["double"].rtol]
    marks = {id(kinds): mark for mark, kinds in MARKS.items()}
    for module in TABLES:
        section = text.partition(f"### `{module}`")[2].partition("\n#")[0]
        for functions, _, values in re.findall(
            r"^\| (`[^|]*) \| ([^|]*) \| ([^|]*) \|", section, re.MULTILINE
        ):
            for name in re.findall(r"`(\w+)`", functions):
                kinds = TOLERANCES[f"{module.removeprefix('scipy_dispatch.')}.{name}"]
                assert marks[id(kinds)] in re.findall(r"=|\w+", values), name
