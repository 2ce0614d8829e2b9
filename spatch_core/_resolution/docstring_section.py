"""The section about the backends of a function, for the function's docstring."""

from __future__ import annotations

from collections.abc import Iterable

from .._description import Description
from .._discovery import Catalog
from .._patterns import TypePattern


class Documentation:
    """Writes the sections about the backends of a library's functions.

    Parameters
    ----------
    catalog : Catalog
        The library's backends.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        # By backend and note, because thousands of functions may have the same.
        self._texts: dict[tuple[str, str], str] = {}

    def section(self, identifier: str, names: Iterable[str]) -> str:
        """Return the section "Backends"; empty without any.

        Parameters
        ----------
        identifier : str
            The library's function.
        names : iterable of str
            The backends that implement it, by priority.
        """
        texts = [self._text(name, identifier) for name in names]
        return "\n".join(["Backends", "--------", *texts]) if texts else ""

    def _text(self, name: str, identifier: str) -> str:
        """Return the part of the section about one backend."""
        description = self._catalog.descriptions[name]
        implementation = description.implementation(identifier)
        docs = "" if implementation is None else implementation.additional_docs
        text = self._texts.get((name, docs))
        if text is None:
            text = _with_docs(f"{name}\n    {summary_of(description)}", docs)
            self._texts[name, docs] = text
        return text


def _with_docs(summary: str, docs: str) -> str:
    docs = docs.strip()
    if docs.isprintable():  # one line: no need to indent others
        return f"{summary}\n\n    {docs}" if docs else summary
    lines = [f"    {line}".rstrip() for line in docs.splitlines()]
    return "\n".join([summary, "", *lines])


def summary_of(description: Description, quote: str = "", *, links: bool = True) -> str:
    """Return the types of a backend, whether it needs opt-in, and its web address, as text.

    Parameters
    ----------
    description : Description
        The backend.
    quote : str, optional
        Put around each type.
    links : bool, optional
        Whether the text includes the web address.
    """

    def listed(types: tuple[TypePattern, ...]) -> str:
        return ", ".join(f"{quote}{each}{quote}" for each in types)

    text = f"Types: {listed(description.primary_types)}"
    if description.secondary_types:
        text += f"; converts {listed(description.secondary_types)}"
    if description.requires_opt_in:
        text += f'. Needs opt-in: ``prioritize="{description.name}"``'
    # No full stop after an address: some programs would make it part of the link.
    return f"{text}. See {description.url}" if description.url and links else f"{text}."
