"""Problems and findings as lines, by backend or by file, and the counts in summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._discovery import CYCLE
from .._errors import Severity, Source
from .._patterns import DEFAULT, shown
from .output import Cell, Notes, Part
from .records import distribution_text

if TYPE_CHECKING:
    from .._errors import Finding
    from ..examination.backends import ListedBackend

_STYLES = {"error:": "bold red", "warning:": "yellow", "note:": "dim"}


def by_backend(
    problems: Iterable[Finding],
    library: str,
    default_name: str = DEFAULT,
    *,
    severities: bool = False,
) -> list[Notes]:
    """Return the problems under a title for each backend, the environment and the library.

    A cycle, which is a problem of each backend on it, appears once. `default_name` is the name of
    the library itself as people see it.
    """
    groups: dict[str, dict[Cell, None]] = {}
    for each in problems:
        severity = f"{each.severity}: " if severities else ""
        line = f"{severity}{_key(each.keys)}{each.message}. {each.remedy}"
        groups.setdefault(_title(each, library, default_name), {})[line] = None
    return [Notes(title, [*lines], _STYLES) for title, lines in groups.items()]


def _title(problem: Finding, library: str, default_name: str) -> str:
    if problem.message.startswith(CYCLE):
        return "priority order"
    if problem.backend is None and problem.key is not None:
        return "environment"
    source = problem.source or Source()
    place = distribution_text(source), source.file or source.entry_point
    where = ", ".join(filter(None, place))
    subject = f"library {library}"
    if problem.backend is not None:
        subject = shown(problem.backend, default_name)
    return f"{subject} ({where})" if where else subject


def _key(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
    return f"{keys[0]}{more}: " if keys else ""


def together(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return findings about files in groups that differ only in their keys: one for each line."""
    found: dict[tuple[str, ...], list[Finding]] = {}
    for each in findings:
        file = str(each.source and each.source.file)
        found.setdefault((file, each.message, each.remedy), []).append(each)
    return [*found.values()]


def by_line(findings: Iterable[Finding]) -> Notes:
    """Return findings about files, each with file, line and remedy.

    Findings that differ only in their keys share a line.
    """
    lines: list[Cell] = []
    for same in together(findings):
        first, key = same[0], _key([each.key for each in same if each.key])
        line = f"{first.place}: {first.severity}: {key}{first.message}"
        lines.append(line if first.is_unchecked else (line, f"help: {first.remedy}"))
    return Notes("", lines, _STYLES)


def finding_as_json(finding: Finding) -> dict[str, Any]:
    """Return a finding about a file as ``verify`` and ``update`` print it as JSON."""
    names = ("line", "key", "message", "remedy")
    return {
        "severity": finding.severity.value,
        **{name: getattr(finding, name) for name in names},
    }


def state_notes(title: str, unused: Iterable[ListedBackend]) -> Notes:
    """Return the reasons why backends are not used."""
    return Notes(title, [f"{each.name} ({each.state.value}): {each.reason}" for each in unused])


def counted(number: int, noun: str) -> str:
    """Return a number with a noun: "no errors", "1 error", "2 errors"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number or 'no'} {noun if number == 1 else plural}"


def count_severities(severities: Iterable[str]) -> str:
    """Return the number of findings of each severity; "no findings" without any."""
    found = Counter(severities)
    texts = [counted(found[each.value], each.value) for each in Severity if found[each.value]]
    return ", ".join(texts) or "no findings"


def closing(
    text: str, *found: tuple[str, Iterable[Finding]], counted_before: int = 0
) -> list[Part]:
    """Return the end of a command's output: the problems of libraries, and a summary.

    The summary starts with `text`, and counts the problems that the output has shown before, too.
    """
    notes = [each for library, problems in found for each in by_backend(problems, library)]
    number = counted_before + sum(len(each.lines) for each in notes)
    return [*["Problems"][: len(notes)], *notes, f"{text}; {counted(number, 'problem')}"]
