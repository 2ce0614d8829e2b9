"""Tables of functions that stand where they have no effect."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core._description.misplaced import misplaced_function


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("homepage", "example.org"),
        ("license", "BSD"),
        ("since:version", "the first one"),
        ("lib:blend", 3),
        ("plugin", {"since": 1}),
        ("plugin", {"inner": {"since": 1}}),
        ("plugin", {"function": {"since": 1}}),
        (3, {}),
    ],
    ids=str,
)
def test_other_keys_are_no_functions(key: object, value: Any) -> None:
    """D11: a later version, or another tool, may know them."""
    assert misplaced_function(key, value) == ""


def test_tables_may_be_nested_without_an_end() -> None:
    """E1: a description in code may refer to itself."""
    table: dict[str, Any] = {}
    table["inner"] = table
    assert misplaced_function("lib", table) == ""
