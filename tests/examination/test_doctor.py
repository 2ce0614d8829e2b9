"""Gathering what child processes find; tests of the command see the rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spatch_core.examination.doctor import check_variables, examine_library, merged
from spatch_core.examination.findings import error, note, warning
from spatch_core.examination.libraries import Library
from spatch_core.types import Source


def test_findings_that_differ_in_their_keys_become_one(tmp_path: Path) -> None:
    """They are sorted by severity, backend, and place in the file."""
    file = tmp_path / "backend.toml"
    file.write_text('name = "oil"\nsecondary_types = ["a:A"]\nprimary_types = ["a:A"]\n')
    source = Source(file=str(file))
    faulty = error("a", "b").at("oil", source)
    found = merged(
        [
            note("n", "r").at("oil", source),
            replace(faulty, key="primary_types[0]"),
            replace(faulty, key="secondary_types[0]"),
            replace(faulty, key="primary_types[0]"),
            warning("w", "r").at("chalk", Source()),
            replace(error("x", "r").at("chalk", Source()), key="secondary_types[10]"),
            replace(error("y", "r").at("chalk", Source()), key="secondary_types[9]"),
        ]
    )
    assert [(each.message, each.keys) for each in found] == [
        ("y", ("secondary_types[9]",)),
        ("x", ("secondary_types[10]",)),
        ("a", ("secondary_types[0]", "primary_types[0]")),
        ("w", ()),
        ("n", ()),
    ]


def test_variables_that_name_nothing() -> None:
    """Discovery reports near misses of backends and of variables."""
    mentioned = [("oil", "EXAMINED_BLOCK"), ("oli", "EXAMINED_BLOCK"), ("zz", "EXAMINED_BLOCK")]
    mentioned.append(("all", "EXAMINED_BLOCK"))
    found = list(check_variables(["default", "oil"], mentioned, "EXAMINED_BLOCK"))
    assert [(each.key, each.remedy) for each in found] == [
        ("EXAMINED_BLOCK", "Remove it; installed are: default, oil"),
    ]


def test_a_library_whose_name_is_taken_is_not_examined() -> None:
    """It is not used."""
    source = Source("paintlib = other:system")
    report = examine_library(Library("paintlib", "other:system", source, owner="paint-lib"))
    assert report.backends == ()
    (finding,) = report.findings
    assert finding.message.startswith("distribution paint-lib registers a library of the same")


def test_an_unknown_library_is_an_error() -> None:
    with pytest.raises(LookupError, match="no library is named 'no such library'"):
        examine_library("no such library")
