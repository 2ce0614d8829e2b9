"""The section about the backends of a function, for the function's docstring."""

from __future__ import annotations

from collections.abc import Iterable

from .._description.description import Description
from .._discovery.catalog import Catalog


class Documentation:
    """Writes the sections about the backends of a library's functions.

    Parameters
    ----------
    catalog : Catalog
        The library's backends.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        # A backend of a thousand functions says of itself the same in all of them.
        self._summaries: dict[str, str] = {}

    def section(self, identifier: str, names: Iterable[str]) -> str:
        """Return the section "Backends"; empty without any.

        Parameters
        ----------
        identifier : str
            The library's function.
        names : iterable of str
            The backends that implement it, by priority.
        """
        lines: list[str] = []
        for name in names:
            text = self._catalog.additional_docs(name, identifier).strip()
            lines += [name, self._summary(name)]
            if text.isprintable():  # one line, as in most of what may be 100,000 texts
                lines += ["", f"    {text}"] if text else []
            else:
                lines += ["", *(f"    {line}".rstrip() for line in text.splitlines())]
        return "\n".join(["Backends", "--------", *lines]) if lines else ""

    def _summary(self, name: str) -> str:
        """Return the line that says for which types a backend is, made once."""
        summary = self._summaries.get(name)
        if summary is None:
            summary = f"    {_summary(self._catalog.descriptions[name])}"
            self._summaries[name] = summary
        return summary


def _summary(description: Description) -> str:
    """Say for which types a backend is, and whether users must ask for it."""
    text = f"Types: {', '.join(map(str, description.primary_types))}"
    if description.secondary_types:
        text += f"; converts {', '.join(map(str, description.secondary_types))}"
    if description.requires_opt_in:
        text += f'. Needs opt-in: ``prioritize="{description.name}"``'
    return f"{text}."
