"""Results that notebooks and rich display as tables; `notebooks` makes the tables on demand."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_TABLES = __name__.rpartition("._")[0] + ".notebooks.tables"


class Displayed:
    """A result that is displayed as a table."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return bundle(self)

    def _repr_html_(self) -> str:
        return html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # IPython would print a trace, which is a list, in its own format for lists.
        printer.text(str(self))

    def __rich__(self) -> Any:
        return rich(self)


def bundle(value: object) -> dict[str, str]:
    """Return the texts from which IPython chooses, by their MIME type."""
    return {"text/plain": str(value), "text/html": html(value)}


def html(value: object) -> str:
    """Return the table of a value as HTML."""
    # Imported by name, because `notebooks` is above this room.
    found: str = import_module(_TABLES).as_html(value)
    return found


def rich(value: object) -> Any:
    """Return the table of a value for rich."""
    return import_module(_TABLES).as_rich(value)
