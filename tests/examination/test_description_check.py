"""Everything that a description names is imported, each step after it is written down."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from spatch_core.examination.child import Journal
from spatch_core.examination.description_check import DescriptionCheck
from spatch_core.examination.findings import Severity
from spatch_core.examination.importing import Importer
from spatch_core.examination.mentions import find_mentions

FIELDS = {
    "primary_types": ["fractions:Fraction", "@numbers:Number"],
    "functions": {
        "auto-generation": {"backend": "fractions:Fraction", "modules": ["fractions"]},
    },
}


def check(skip: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return the keys of findings, and the journal."""
    stream = io.StringIO()
    found = DescriptionCheck(
        find_mentions(FIELDS), Importer([]), Journal(stream.write, skip)
    ).findings()
    keys = [str(each.key) for each in found]
    return keys, [json.loads(line) for line in stream.getvalue().splitlines()]


def test_steps_are_written_down_and_findings_have_keys() -> None:
    """Abstract classes are first, because their imports are timed."""
    keys, journal = check([])
    assert keys == ["functions.auto-generation.backend"]
    assert journal[0] == ["step", ["importing numbers", "numbers", "primary_types[1]"]]
    assert [kind for kind, _ in journal] == ["step"] * 4


def test_a_module_that_ended_a_process_is_skipped() -> None:
    keys, journal = check(["fractions"])
    assert keys == []
    assert [kind for kind, _ in journal] == ["step", "skipped", "skipped", "skipped"]


def test_functions_that_the_file_lacks_are_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F14: a new function of the code takes no calls before ``update`` has written it."""
    (tmp_path / "easel_oil.py").write_text(
        "from spatch_core import BackendImplementation\n"
        "backend = BackendImplementation('oil')\n"
        "@backend.implements('easel:blur')\n"
        "def blur(image): ...\n"
        "@backend.implements('easel:sharpen')\n"
        "def sharpen(image): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    fields = {
        "functions": {
            "auto-generation": {"backend": "easel_oil:backend", "modules": ["easel_oil"]},
            "easel:blur": {"function": "easel_oil:blur"},
        },
    }
    journal = Journal(io.StringIO().write, [])
    check = DescriptionCheck(find_mentions(fields), Importer([]), journal, name="oil")
    assert all(each.is_unchecked for each in check.findings())  # there is no library
    assert [(each.key, each.severity, each.message) for each in check.unmentioned()] == [
        (
            "functions.auto-generation.backend",
            Severity.NOTE,
            "the description lacks functions of the backend: easel:sharpen",
        )
    ]


def test_a_backend_of_the_public_package_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D13: its `BackendImplementation` does not have ``functions``."""
    (tmp_path / "easel_old.py").write_text(
        "class BackendImplementation:\n    name = 'old'\nbackend = BackendImplementation()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    fields = {"functions": {"auto-generation": {"backend": "easel_old:backend"}}}
    journal = Journal(io.StringIO().write, [])
    check = DescriptionCheck(find_mentions(fields), Importer([]), journal, name="old")
    assert [*check.findings(), *check.unmentioned()] == []
