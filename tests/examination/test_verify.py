"""Verifying a file, without the command line; tests of `verify` see the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatch_core.examination.findings import Severity
from spatch_core.examination.verify import verify_file

TEXT = """\
name = "oil"
primary_types = ["fractions:Fractoin", "no_such_package_xyz:T", "builtins:NoneType"]
lower_priority_than = ["defalt"]
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "backend.toml"
    path.write_text(TEXT)
    return str(path)


def test_findings_are_sorted_by_line_and_kind(file: str) -> None:
    """Faults, and what could not be checked."""
    report = verify_file(file)
    assert report.imported
    assert [(each.line, each.key) for each in report.findings] == [
        (2, "primary_types[0]"),
        (2, "primary_types[1]"),
        (2, "primary_types[2]"),
        (3, "lower_priority_than[0]"),
    ]
    assert [each.remedy for each in report.faults] == [
        "Did you mean 'Fraction'?",
        "Remove it",
        "Did you mean 'default'?",
    ]
    assert [each.key for each in report.unchecked] == ["primary_types[1]"]
    assert report.notes == []
    assert [each.severity for each in report.faults] == [
        Severity.ERROR,
        Severity.WARNING,
        Severity.ERROR,
    ]


def test_nothing_is_imported_unless_wanted(file: str) -> None:
    """The text alone has one fault."""
    report = verify_file(file, imports=False)
    assert not report.imported
    assert [each.key for each in report.findings] == ["lower_priority_than[0]"]
