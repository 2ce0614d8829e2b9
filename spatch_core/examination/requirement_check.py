"""Checks whether this environment meets the requirements of a description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .._description import EVERY
from .._discovery import choose_variants
from .._environment import RequirementError, why_unmet
from .._errors import Finding, Severity, replace
from .findings import error, note
from .layout import key_path

if TYPE_CHECKING:
    from .._description import Description


def check_requirements(requires: Iterable[str]) -> Iterator[Finding]:
    """Yield an error for each malformed requirement, and a note for each unmet one.

    Examples
    --------
    >>> [str(each.severity) for each in check_requirements(["no-such-distribution", "a b"])]
    ['note', 'error']
    """
    for position, text in enumerate(requires):
        try:
            unmet = why_unmet(text)
        except RequirementError as failure:
            remedy = "Install packaging, or correct the requirement"
            found = error(f"it is inactive, because of a requirement: {failure}", remedy)
        else:
            if not unmet:
                continue
            found = note(f"{unmet}, so it is inactive here", "Install it to use the backend")
        yield replace(found, key=f"requires[{position}]")


def check_variants(description: Description) -> Iterator[Finding]:
    """Yield an error for each malformed requirement, and a note for each absent function.

    The variants may have been chosen before.
    """
    if not description.varies:
        return
    chosen, problems = choose_variants(description)
    for problem in problems:
        yield replace(problem, severity=Severity.ERROR)
    for identifier, why in {**description.absent, **chosen.absent}.items():
        message = f"it has no implementation for what is installed here: {why}"
        found = note(message, "Install it, or add an implementation without a requirement")
        yield replace(found, key=key_path(("functions", identifier)))


def chosen_variants(description: Description) -> Iterator[Finding]:
    """Yield a note for each function with variants, which says the implementation in use.

    The variants have been chosen before.
    """
    named = dict(description.functions)
    if description.every is not None:
        named[EVERY] = description.every
    for identifier, each in named.items():
        if each.variant is not None:
            place: tuple[str | int, ...] = "variants", each.variants.index(each.variant)
            message = f"its variant for {each.variant.requires} serves here"
        elif each.variants:
            place = ("function",)
            reasons = dict.fromkeys(_why_unmet(variant.requires) for variant in each.variants)
            message = f"it serves here instead of its variants: {'; '.join(reasons)}"
        else:
            continue
        found = note(message, "Nothing needs to be done")
        yield replace(found, key=key_path(("functions", identifier, *place)))


def _why_unmet(requirement: str) -> str:
    try:
        return why_unmet(requirement, is_condition=True)
    except RequirementError as failure:
        return str(failure)
