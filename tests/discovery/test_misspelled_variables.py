"""Near misses in environment variables: their names, and the names in them."""

from __future__ import annotations

import pytest

from spatch_core._discovery.environment import misspelled_variables, near_misses


def test_names_of_variables_that_the_library_reads_are_no_misspellings() -> None:
    """Neither are names with another prefix, nor names unlike any variable."""
    variables = {"LIB_BLOCK": "", "LIB2_BLOCKS": "", "LIB_CACHE": "", "LIBBLOCKS": "", "BLOCKS": ""}
    assert list(misspelled_variables("LIB", ["PRIORITIZE", "BLOCK"], variables)) == []


@pytest.mark.parametrize(
    ("name", "variable", "remedies"),
    [
        ("fast", "LIB_BLOCK", []),
        ("FAST", "LIB_PRIORITIZE", ["Did you mean 'fast'?"]),
        ("all", "LIB_BLOCK", ["Did you mean '*', which blocks all?"]),
        ("all", "LIB_PRIORITIZE", []),
        ("quantum", "LIB_BLOCK", []),
    ],
)
def test_names_of_backends(name: str, variable: str, remedies: list[str]) -> None:
    """S14: the name of an installed backend is never a misspelling."""
    found = near_misses([(name, variable)], ["fast", "ducky"], "LIB_BLOCK")
    assert [each.remedy for each in found] == remedies


def test_a_backend_may_be_named_all() -> None:
    assert list(near_misses([("all", "LIB_BLOCK")], ["all"], "LIB_BLOCK")) == []
