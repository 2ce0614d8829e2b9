"""Verifying a file, without the command line; tests of `verify` see the rest."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spatch_core.examination.findings import Severity
from spatch_core.examination.verify import verify_file

TEXT = """\
name = "oil"
primary_types = ["fractions:Fractoin", "no_such_package_xyz:T", "builtins:NoneType"]
url = "oil.example"
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "backend.toml"
    path.write_text(TEXT)
    return str(path)


def test_findings_are_sorted_by_line_and_kind(file: str) -> None:
    """They are faults and unchecked findings."""
    report = verify_file(file)
    assert report.imported
    assert [(each.line, each.key) for each in report.findings] == [
        (2, "primary_types[0]"),
        (2, "primary_types[1]"),
        (2, "primary_types[2]"),
        (3, "url"),
    ]
    assert [each.remedy for each in report.faults] == [
        "Did you mean 'Fraction'?",
        "Remove it",
        "Write 'https://...' or 'http://...', other characters than ASCII as '%C3%BC'",
    ]
    assert [each.key for each in report.unchecked] == ["primary_types[1]"]
    assert report.notes == []
    assert [each.severity for each in report.faults] == [
        Severity.ERROR,
        Severity.WARNING,
        Severity.ERROR,
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_a_file_is_read_once(file: str) -> None:
    """A pipe, which can be read once, has the same findings, and so has a file that changes."""
    expected = [(each.line, each.key, each.message) for each in verify_file(file).findings]
    Path(file).unlink()
    os.mkfifo(file)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(Path(file).write_text, TEXT)
        report = verify_file(file)
        writing.result()
    assert [(each.line, each.key, each.message) for each in report.findings] == expected


def test_nothing_is_imported_unless_wanted(file: str) -> None:
    """The text itself has one fault."""
    report = verify_file(file, imports=False)
    assert not report.imported
    assert [each.key for each in report.findings] == ["url"]


def test_findings_of_one_line_are_in_the_order_of_their_keys(tmp_path: Path) -> None:
    """It holds although abstract classes are imported first."""
    path = tmp_path / "backend.toml"
    path.write_text(
        'name = "oil"\n'
        'primary_types = ["fractions:Fractoin", "decimal:Decimul", "@numbers:Nombre"]\n'
    )
    keys = [each.key for each in verify_file(str(path)).findings]
    assert keys == ["primary_types[0]", "primary_types[1]", "primary_types[2]"]


def test_the_text_of_an_import_fault_names_the_line(file: str) -> None:
    """Such faults come from a child process."""
    first = verify_file(file).findings[0]
    assert str(first).startswith(f"{file}:2, key primary_types[0]: ")


def test_a_path_may_be_an_object(file: str) -> None:
    """It works as for `open`."""
    report = verify_file(Path(file), imports=False)
    assert report.subject == file
    assert [each.key for each in report.findings] == ["url"]
