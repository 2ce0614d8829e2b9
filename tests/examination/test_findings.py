"""Findings: what they are, and how they get from one process to another."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from spatch_core.examination.findings import (
    Finding,
    Severity,
    error,
    from_record,
    incomplete,
    note,
    of_problem,
    source_from_json,
    to_record,
    unchecked,
    warning,
)
from spatch_core.types import Problem, Source

PLACE = {
    "entry_point": "oil = paint_oil:backend.toml",
    "file": "/paint_oil/backend.toml",
    "distribution": "paint-oil",
    "version": "1.0",
}
FULL = Finding(
    "it is wrong",
    "Mend it",
    "oil",
    "primary_types[0]",
    source_from_json(PLACE),
    severity=Severity.WARNING,
    more_keys=("primary_types[1]",),
    is_absent=True,
)


def test_a_finding_is_a_problem() -> None:
    """It is frozen, and has all attributes of a problem."""
    assert isinstance(FULL, Problem)
    assert (FULL.backend, FULL.key) == ("oil", "primary_types[0]")
    with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
        FULL.line = 1  # type: ignore[misc]
    problem = Problem("it is wrong", "Mend it", "oil", "name", Source(file="f"))
    found = of_problem(problem, Severity.NOTE)
    assert (found.message, found.remedy, found.keys) == ("it is wrong", "Mend it", ("name",))
    assert (found.source, found.severity) == (problem.source, Severity.NOTE)


@pytest.mark.parametrize(
    "finding",
    [FULL, error("a", "b"), unchecked("a"), incomplete(), error("a", "b").at("x", Source())],
    ids=["full", "bare", "unchecked", "incomplete", "nowhere"],
)
def test_a_record_holds_everything(finding: Finding) -> None:
    """The finding is the same after a round trip through JSON."""
    record: Any = json.loads(json.dumps(to_record(finding)))
    back = from_record(record)
    assert to_record(back) == record
    assert str(back) == str(finding)
    assert replace(back, source=None) == replace(finding, source=None)


def test_as_json_has_the_documented_keys() -> None:
    assert FULL.as_json() == {
        "severity": "warning",
        "backend": "oil",
        "keys": ["primary_types[0]", "primary_types[1]"],
        "message": "it is wrong",
        "remedy": "Mend it",
        **PLACE,
    }


def test_its_text_says_where() -> None:
    """The text names a backend, an environment variable, the library, or a line of a file."""
    rest = ": it is wrong. Mend it"
    bare = error("it is wrong", "Mend it")
    assert str(FULL) == (
        "backend 'oil' (distribution paint-oil 1.0, entry point 'oil = paint_oil:backend.toml', "
        f"file /paint_oil/backend.toml), key primary_types[0] and 1 more{rest}"
    )
    assert str(replace(bare, key="LIB_BLOCK")) == f"environment variable LIB_BLOCK{rest}"
    assert str(bare) == f"library{rest}"
    in_file = replace(bare, key="name", line=3, source=Source(file="backend.toml"))
    assert str(in_file) == f"backend.toml:3, key name{rest}"
    assert str(replace(in_file, more_keys=("a", "b"))) == (
        f"backend.toml:3, key name and 2 more{rest}"
    )
    assert str(replace(in_file, key=None)) == f"backend.toml:3{rest}"


def test_severities() -> None:
    """Notes are not faults, and an unchecked finding is a note."""
    made = [error("a", "b"), warning("a", "b"), note("a", "b"), unchecked("a")]
    assert [each.severity.value for each in made] == ["error", "warning", "note", "note"]
    assert [each.is_unchecked for each in made] == [False, False, False, True]
