"""Results that notebooks and rich show as tables. `notebooks` makes these when one asks."""

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
        # IPython has a text of its own for lists, as a trace is one.
        printer.text(str(self))

    def __rich__(self) -> Any:
        return rich(self)


def bundle(value: object) -> dict[str, str]:
    """Return what IPython chooses from, by type of content."""
    return {"text/plain": str(value), "text/html": html(value)}


def html(value: object) -> str:
    """Return the table of a value as HTML."""
    # By name, because this module is below those of the values.
    found: str = import_module(_TABLES).as_html(value)
    return found


def rich(value: object) -> Any:
    """Return the table of a value for rich."""
    return import_module(_TABLES).as_rich(value)
