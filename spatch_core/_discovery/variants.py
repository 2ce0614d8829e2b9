"""Chooses variants: the implementations of functions that suit the installed distributions.

Only metadata of distributions is read; nothing is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .._description import EVERY, Description, Implementation, Variant
from .._errors import Problem, replace
from .requirements import RequirementError, why_unmet

Report = Callable[[str, str], None]
"""Takes a key path and an error."""


def choose_variants(description: Description) -> tuple[Description, list[Problem]]:
    """Return a description with the chosen variants, and the problems of their requirements.

    A function is absent if no variant's requirement is met, and it has no plain implementation.

    Parameters
    ----------
    description : Description
        A description with variants.

    Returns
    -------
    description : Description
        Chosen variants replace the implementations; `absent` says why others are missing.
    problems : list of Problem
        Malformed requirements. They count as unmet.
    """
    problems: list[Problem] = []
    reasons = _Reasons()

    def report(key: str, error: str) -> None:
        problems.append(
            Problem(
                f"the variant is not used, because of its requirement: {error}",
                "Install packaging, or correct the requirement",
                description.name,
                key,
                description.source,
                skips=False,
            )
        )

    functions: dict[str, Implementation] = {}
    absent = {}
    named = dict(description.functions)
    if description.every is not None:
        named[EVERY] = description.every
    for identifier, implementation in named.items():
        path = f'functions."{identifier}"'
        variant, why = _chosen(implementation, path, reasons, report)
        if variant is not None:
            functions[identifier] = replace(
                implementation, function=variant.function, variant=variant
            )
        elif implementation.function:
            functions[identifier] = implementation
        else:
            absent[identifier] = why
    every = functions.pop(EVERY, None)
    return (
        replace(
            description,
            functions=MappingProxyType(functions),
            every=every,
            absent=MappingProxyType(absent),
        ),
        problems,
    )


def _chosen(
    implementation: Implementation, path: str, reasons: Mapping[str, str], report: Report
) -> tuple[Variant | None, str]:
    """Return the first variant whose requirement is met; if there is none, the reasons."""
    failures = []
    for position, variant in enumerate(implementation.variants):
        try:
            reason = reasons[variant.requires]
        except RequirementError as error:
            reason = str(error)
            report(f"{path}.variants[{position}].requires", reason)
        if not reason:
            return variant, ""
        failures.append(reason)
    return None, "; ".join(dict.fromkeys(failures))


class _Reasons(dict[str, str]):
    """Caches why each requirement is not met; empty if it is met."""

    def __missing__(self, requirement: str) -> str:
        reason = self[requirement] = why_unmet([requirement], is_condition=True)
        return reason
