"""Everything that a description names is imported, each step after it is written down."""

from __future__ import annotations

import io
import json

from spatch_core.examination.child import Journal
from spatch_core.examination.description_check import DescriptionCheck
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
