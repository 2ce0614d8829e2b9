"""The README: its examples run, and its numbers and names match the code."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from calls import SERVED

from scipy_dispatch_cupy import _device
from scipy_dispatch_cupy._limits import LEFT_OUT
from scipy_dispatch_cupy._map import FUNCTIONS
from scipy_dispatch_cupy.offload._table import TABLE

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_the_examples_without_cupy_arrays_run() -> None:
    """They run with or without a GPU, since SciPy computes the rest."""
    start = TEXT.index("## NumPy in")
    examples = doctest.DocTestParser().get_doctest(TEXT[start:], {}, README.name, str(README), 0)
    runner = doctest.DocTestRunner()
    runner.run(examples)
    assert runner.tries > 5
    assert not runner.failures


def test_what_is_left_out_is_named() -> None:
    section = TEXT.partition("### Left out")[2].partition("CuPy does not have")[0]
    named = set(re.findall(r"`(\w+)`", section))
    assert named == {name for names in LEFT_OUT.values() for name in names}


def test_the_numbers_are_right() -> None:
    assert str(_device.SMALLEST) in TEXT
    assert f"has {sum(map(len, TABLE.values()))} of them" in TEXT
    if len(SERVED) == 214:  # with SciPy 1.18
        for module in FUNCTIONS:
            number = sum(name.startswith(f"{module}.") for name in SERVED)
            assert f"{number} of `{module}`" in TEXT
