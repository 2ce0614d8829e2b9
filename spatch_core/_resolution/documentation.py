"""The section about the backends of a function, for the function's docstring."""

from __future__ import annotations

from collections.abc import Iterable

from .._description.description import Description


def section(identifier: str, descriptions: Iterable[Description]) -> str:
    """Return the section "Backends"; empty without any.

    Parameters
    ----------
    identifier : str
        The library's function.
    descriptions : iterable of Description
        Those of the backends that implement it, by priority.
    """
    lines: list[str] = []
    for description in descriptions:
        text = description.functions[identifier].additional_docs.strip()
        body = [_summary(description), *(["", *text.splitlines()] if text else [])]
        lines += [description.name, *(f"    {line}".rstrip() for line in body)]
    return "\n".join(["Backends", "--------", *lines]) if lines else ""


def _summary(description: Description) -> str:
    """Say for which types a backend is, and whether users must ask for it."""
    text = f"Types: {', '.join(map(str, description.primary_types))}"
    if description.secondary_types:
        text += f"; converts {', '.join(map(str, description.secondary_types))}"
    if description.requires_opt_in:
        text += f'. Needs opt-in: ``prioritize="{description.name}"``'
    return f"{text}."
