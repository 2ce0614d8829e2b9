"""The section about the backends of a function, for the function's docstring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .._description.description import Description
from .._discovery.catalog import Catalog
from .._type_patterns import TypePattern


class Documentation:
    """Writes the sections about the backends of a library's functions.

    Parameters
    ----------
    catalog : Catalog
        The library's backends.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        # By backend: its summary, the texts of functions by identifier, and that of all others.
        self._known: dict[str, tuple[str, Mapping[str, str], str]] = {}
        # By backend: the whole text, if it is the same for all its functions, perhaps thousands.
        self._common: dict[str, str] = {}

    def section(self, identifier: str, names: Iterable[str]) -> str:
        """Return the section "Backends"; empty without any.

        Parameters
        ----------
        identifier : str
            The library's function.
        names : iterable of str
            The backends that implement it, by priority.
        """
        common = self._common
        texts = [common.get(name) or self._text(name, identifier) for name in names]
        return "\n".join(["Backends", "--------", *texts]) if texts else ""

    def _text(self, name: str, identifier: str) -> str:
        """Return the part of the section about one backend."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._read(name)
        summary, docs, others = known
        text = _with_docs(summary, docs.get(identifier, others))
        if not docs:
            self._common[name] = text
        return text

    def _read(self, name: str) -> tuple[str, Mapping[str, str], str]:
        description = self._catalog.descriptions[name]
        summary = f"{name}\n    {summary_of(description)}"
        docs, every = self._catalog.docs(name), description.every
        if not isinstance(docs, str):
            return summary, docs, "" if every is None else every.additional_docs
        if every is None:
            return summary, {}, docs
        return summary, dict.fromkeys(description.functions, docs), every.additional_docs


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
