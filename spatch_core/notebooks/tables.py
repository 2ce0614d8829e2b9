"""Tables of results, as HTML and for rich; imported when one is shown."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from .._classes import type_identifier
from .._identifiers import shown
from .._resolution.explanation import Explanation
from .._state.options_block import Block
from .._state.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table as RichTable

    from .._description.description import Description


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    Parameters
    ----------
    title : str
        The caption.
    columns : tuple of str
        The headings of the columns.
    rows : sequence of tuple of str
        The rows, with a text for each column.
    chosen : int or None, optional
        The row of the backend that runs.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    chosen: int | None = None


def table_of(value: Any) -> Table:
    """Return the table of an explanation, a trace, options or the backends of a library."""
    if isinstance(value, Explanation):
        return _of_explanation(value)
    if isinstance(value, Trace):
        return _of_trace(value)
    return _of_options(value) if isinstance(value, Block) else _of_backends(value)


def as_html(value: Any) -> str:
    """Return the table of a value as HTML, with escaped texts."""
    table = table_of(value)
    heads = "".join(f'<th scope="col">{escape(each)}</th>' for each in table.columns)
    lines = ["<table>", f"<caption>{escape(table.title)}</caption>"]
    lines += [f"<thead><tr>{heads}</tr></thead>", "<tbody>"]
    for number, row in enumerate(table.rows):
        first, *others = map(escape, row)
        first = f"<strong>{first}</strong>" if number == table.chosen else first
        cells = "".join(f'<td style="text-align: left">{each}</td>' for each in others)
        lines.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    return "\n".join([*lines, "</tbody>", "</table>"])


def as_rich(value: Any) -> RichTable:
    """Return the table of a value for rich, which does not interpret markup in the texts."""
    from rich.table import Table as RichTable
    from rich.text import Text

    table = table_of(value)
    made = RichTable(title=Text(table.title), title_justify="left")
    for each in table.columns:
        made.add_column(Text(each), overflow="fold")
    for number, row in enumerate(table.rows):
        made.add_row(*map(Text, row), style="bold" if number == table.chosen else None)
    return made


def _of_explanation(value: Explanation) -> Table:
    title = str(value).partition("\n")[0]
    rows = [(each.shown, str(each.verdict), each.reason) for each in value.backends]
    if value.hooks:
        rows.insert(0, (", ".join(value.hooks), "sees it first", "a hook"))
    chosen = [place for place, each in enumerate(value.backends) if value._is_answer(each)]
    place = chosen[0] + bool(value.hooks) if chosen else None
    return Table(title, ("backend", "verdict", "reason"), rows, place)


def _of_trace(value: Trace) -> Table:
    rows = [
        (
            *(each.function, shown(each.backend, each.default_name), str(each.outcome)),
            *(each.reason, ", ".join(map(type_identifier, each.types))),
        )
        for each in value
    ]
    title = "1 trace event" if len(rows) == 1 else f"{len(rows)} trace events"
    return Table(title, ("function", "backend", "outcome", "reason", "types"), rows)


def _of_options(value: Block) -> Table:
    rows = [("backends", ", ".join(value.backends)), ("prioritize", ", ".join(value.prioritized))]
    rows.append(("disable", ", ".join(value.disabled)))
    rows += [(name, _text(each)) for name, each in value._state().others.items()]
    rows.append(("trace", "" if value.trace is None else "on"))
    rows.append(("hooks", ", ".join(map(repr, value.hooks))))
    module = type(value).__module__
    return Table(f"Options of {module}", ("option", "value"), [each for each in rows if each[1]])


def _of_backends(value: Mapping[str, Description]) -> Table:
    rows = [
        (
            name,
            each.unmet or ("opt-in" if each.requires_opt_in else ""),
            ", ".join(map(str, each.primary_types)),
            "all" if each.every is not None else str(len(each.functions)),
        )
        for name, each in value.items()
    ]
    return Table(
        "Backends by priority", ("backend", "inactive", "primary types", "functions"), rows
    )


def _text(value: object) -> str:
    return type_identifier(value) if isinstance(value, type) else str(value)
