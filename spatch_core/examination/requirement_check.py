"""Checks whether the requirements of a description are met here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .._discovery.requirements import RequirementError, why_unmet
from .findings import Finding, error, note


def check_requirements(requires: Iterable[str]) -> Iterator[Finding]:
    """Yield an error for each requirement that cannot be read, a note for each that is not met.

    Examples
    --------
    >>> [str(each.severity) for each in check_requirements(["no-such-distribution", "a b"])]
    ['note', 'error']
    """
    for position, text in enumerate(requires):
        try:
            unmet = why_unmet([text])
        except RequirementError as failure:
            remedy = "Install packaging, or correct the requirement"
            found = error(f"it is inactive, because of a requirement: {failure}", remedy)
        else:
            if not unmet:
                continue
            found = note(f"{unmet}, so that it is inactive here", "Install it to use the backend")
        yield replace(found, key=f"requires[{position}]")
