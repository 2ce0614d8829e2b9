"""The README: its examples run, and its tables name what there is."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import dask
import pytest

from scipy_dispatch_dask._table import TABLES

README = Path(__file__).parents[1] / "README.md"


def test_the_examples_run() -> None:
    with dask.config.set(scheduler="synchronous"):
        failures, tests = doctest.testfile(str(README), module_relative=False)
    assert tests
    assert not failures


@pytest.mark.parametrize("module", TABLES)
def test_the_tables_name_every_function_once(module: str) -> None:
    section = README.read_text(encoding="utf-8").partition(f"### `{module}`")[2]
    rows = re.findall(r"^\| (`[^|]*) \|", section.partition("\n#")[0], re.MULTILINE)
    functions = ", ".join(rows).partition("\n")[0]
    named = re.findall(r"`(\w+)`", functions)
    assert sorted(named) == sorted(TABLES[module])
