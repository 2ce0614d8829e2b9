"""The tables that wrappers read, as they are filled: finding the table of a function, adding to it.

Imported when a table is filled for the first time.
"""

from __future__ import annotations

from .._dispatch_arguments import Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._dispatch_arguments import Function


def table_of(tables: list[Any], index: int) -> dict[Any, Any]:
    """Return a function's table; other threads may drop all tables meanwhile."""
    while True:
        try:
            table: dict[Any, Any] = tables[index]
        except IndexError:
            tables.append({})
        else:
            return table


def store(
    table: dict[Any, Any], function: Function, key: tuple[type, ...], target: Callable[..., Any]
) -> None:
    """Put a target into the table of a function.

    The wrapper looks it up type by type, in nested tables; if a finder returns the dispatch
    arguments, by the tuple of their types.
    """
    if function.parameters is None:
        table[key] = target
        return
    *first, last = key or (Missing,)
    for cls in first:
        table = table.setdefault(cls, {})
    table[last] = target
