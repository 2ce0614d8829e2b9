from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest
import scipy
from scipy_functions import TABLES

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.parametrize(
    "name",
    [
        "scipy_dispatch",
        "scipy_dispatch._table",
        "scipy_dispatch.calls",
        "scipy_dispatch.planning",
        "scipy_dispatch.reach",
    ],
)
def test_docstrings_are_true(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted
    assert not result.failed


def test_readme_counts_the_functions() -> None:
    text = README.read_text(encoding="utf-8")
    release = ".".join(scipy.__version__.split(".")[:2])
    if f"SciPy {release})" not in text:
        pytest.skip(f"it counts those of another release than SciPy {release}")
    for name, table in TABLES.items():
        public = set(importlib.import_module(f"scipy.{name}").__all__)
        dispatchable = len(public & table.dispatched.keys())
        row = f"| `scipy_dispatch.{name}` | {dispatchable} | {len(public) - dispatchable} |"
        assert row in text
