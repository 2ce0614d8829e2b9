"""Unknown keys are reported, each with the field that was probably meant."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core._description.unknown_keys import KeyChecker, misplaced_function
from spatch_core._reporting.problems import Source

SOURCE = Source("gpu = pkg:gpu.toml")


@pytest.fixture
def checker() -> KeyChecker:
    return KeyChecker("gpu", SOURCE)


def reported(checker: KeyChecker) -> list[str | None]:
    assert all((each.backend, each.source) == ("gpu", SOURCE) for each in checker.problems)
    return [each.key for each in checker.problems]


def test_an_unknown_key_is_no_fault_and_shows_the_nearest_field(checker: KeyChecker) -> None:
    checker.check_keys({"primary_typs": 1, "homepage": 2, 3: 4}, ("primary_types",), "path.")

    assert reported(checker) == ["path.primary_typs", "path.homepage", "path.3"]
    assert checker.problems[0].remedy == "Did you mean 'primary_types'?"
    assert [each.skips for each in checker.problems] == [False] * 3
    assert [each.warns for each in checker.problems] == [True, False, False]


def test_a_field_of_another_table_is_a_fault(checker: KeyChecker) -> None:
    checker.check_keys({"modules": 1, "defaults": {}, "function": {}}, ("primary_types",), "")

    assert [(each.key, each.skips) for each in checker.problems] == [
        ("modules", True),
        ("defaults", True),
        ("function", False),  # the field is no table
    ]


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
