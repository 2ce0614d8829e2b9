"""The README: its examples run, and its numbers and names match the code."""

from __future__ import annotations

import re
from pathlib import Path

from calls import SERVED

from scipy_dispatch_cupy._limits import LEFT_OUT
from scipy_dispatch_cupy._map import FUNCTIONS

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_what_is_left_out_is_named() -> None:
    section = TEXT.partition("### Left out")[2].partition("CuPy does not have")[0]
    named = set(re.findall(r"`(\w+)`", section))
    assert named == {name for names in LEFT_OUT.values() for name in names}


def test_the_numbers_are_right() -> None:
    if len(SERVED) == 214:  # with SciPy 1.18
        for module in FUNCTIONS:
            number = sum(name.startswith(f"{module}.") for name in SERVED)
            assert f"{number} of `{module}`" in TEXT
