"""How problems and findings are shown: by backend, and by file and line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spatch_core.cli.findings import (
    by_backend,
    by_line,
    closing,
    count_severities,
    counted,
    together,
)
from spatch_core.examination.findings import Severity, error, note, unchecked, warning
from spatch_core.types import Problem, Source

SOURCE = Source("gpu = pkg:gpu.toml", "/pkg/gpu.toml")


def test_problems_stand_below_their_backend() -> None:
    """The title has the file or the entry point; variables and the library have titles, too."""
    problems = [
        Problem("it is wrong", "Mend it", "gpu", "name", SOURCE),
        Problem("it is odd", "Mend that", "gpu", source=SOURCE),
        Problem("it is gone", "Install it", "cpu", source=Source("cpu = x:y")),
        Problem("it is no name", "Correct it", key="LIB_BLOCK"),
        Problem("it fails", "Repair it", source=Source("lib = lib:system")),
    ]
    assert [(each.title, each.lines) for each in by_backend(problems, "lib")] == [
        ("gpu (/pkg/gpu.toml)", ["name: it is wrong. Mend it", "it is odd. Mend that"]),
        ("cpu (cpu = x:y)", ["it is gone. Install it"]),
        ("environment", ["LIB_BLOCK: it is no name. Correct it"]),
        ("library lib (lib = lib:system)", ["it fails. Repair it"]),
    ]


def test_findings_begin_with_their_severity() -> None:
    """They also have the number of further keys."""
    found = replace(warning("it is odd", "Mend it"), key="a", more_keys=("b", "c"), backend="gpu")
    (notes,) = by_backend([found], "lib")
    assert (notes.title, notes.lines) == ("gpu", ["warning: a and 2 more: it is odd. Mend it"])


def test_a_finding_of_a_file_is_a_line_that_editors_understand() -> None:
    """The remedy is below, except for unchecked findings; equal findings share a line."""
    first = replace(error("it is wrong", "Mend it"), key="a", line=3, source=SOURCE)
    other = replace(first, key="b", line=5)
    absent = replace(unchecked("it is absent"), key="c", line=7, source=SOURCE)
    whole = replace(note("it is empty", "Fill it"), source=SOURCE)
    assert by_line([first, other, absent, whole]).lines == [
        ("/pkg/gpu.toml:3: error: a and 1 more: it is wrong", "help: Mend it"),
        "/pkg/gpu.toml:7: note: c: it is absent, so this is not checked",
        ("/pkg/gpu.toml: note: it is empty", "help: Fill it"),
    ]
    assert [len(same) for same in together([first, other, absent, whole])] == [2, 1, 1]


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [(0, "error", "no errors"), (1, "library", "1 library"), (2, "library", "2 libraries")],
)
def test_numbers_have_their_noun(number: int, noun: str, expected: str) -> None:
    assert counted(number, noun) == expected


def test_severities_are_counted_the_worst_first() -> None:
    """Severities without findings are left out."""
    assert count_severities([Severity.NOTE, Severity.ERROR, Severity.ERROR]) == "2 errors, 1 note"
    assert count_severities([]) == "no findings"


def test_without_problems_the_last_line_says_so() -> None:
    """There is no heading, either."""
    assert closing("3 backends", ("lib", [])) == ["3 backends; no problems"]
