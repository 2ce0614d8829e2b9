"""Tables of figures: in a terminal, and in the part of a docs page that a run fills."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rich.console import Console

BEGIN = "<!--- figures -->"
END = "<!--- end of figures -->"

DASH = "\N{EN DASH}"
OK = "ok"
OVER = "over"
UNDER = "under"

_STYLES = {OK: "green", OVER: "bold red", UNDER: "bold red"}


@dataclass(frozen=True)
class Sheet:
    """A table, before it is known how it will be shown."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    left: int = 1  # how many columns hold words


def number(value: float | None, like: float | None = None) -> str:
    """Return three digits of a value, or as many as `like` has."""
    if value is None:
        return DASH
    size = abs(value if like is None else like)
    digits = 2 if size < 10 else 1 if size < 100 else 0
    return f"{value:,.{digits}f}"


def with_spread(values: list[float]) -> str:
    """Return the median with half the distance of the quartiles."""
    middle = median(values)
    if len(values) < 2:
        return number(middle)
    low, _, high = quantiles(values, n=4)
    return f"{number(middle)} ± {number((high - low) / 2, middle)}"


def show_sheets(
    machine: dict[str, str], sheets: Iterable[Sheet], failures: Iterable[str], console: Console
) -> None:
    """Print on what a run was made, its tables, and what failed."""
    width = max(map(len, machine), default=0) + 2
    for key, value in machine.items():
        console.print(f"[bold]{key:<{width}}[/]{escape(value)}", highlight=False)
    for sheet in sheets:
        table = Table(
            title=_styled(sheet.title),
            title_justify="left",
            title_style="bold",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
        )
        for index, column in enumerate(sheet.columns):
            # The last of three columns of a mode holds a word too.
            words = index < sheet.left or not column
            table.add_column(
                column,
                justify="left" if words else "right",
                no_wrap=index > 0,
                min_width=len(column),
            )
        for row in sheet.rows:
            table.add_row(*map(_styled, row))
        console.print()
        console.print(table)
    for failure in failures:
        console.print(f"[bold red]not measured:[/] {escape(failure)}", highlight=False)


def sheet_lines(sheet: Sheet) -> list[str]:
    """Return a table as lines of Markdown, with an empty one before it."""
    rules = ["---" if index < sheet.left else "--:" for index in range(len(sheet.columns))]
    lines = ["", f"**{sheet.title}**", ""]
    for row in (sheet.columns, rules, *sheet.rows):
        cells = (f"**{cell}**" if cell in (OVER, UNDER) else cell for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def update(page: Path, text: str) -> None:
    """Put `text` between the two marks of a page."""
    content = page.read_text(encoding="utf-8")
    before, begin, rest = content.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} lacks the marks {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")


def _styled(text: str) -> str:
    style = _STYLES.get(text)
    if style:
        return f"[{style}]{text}[/]"
    if text.startswith("**"):
        return f"[bold]{escape(text.strip('*'))}[/]"
    return escape(text.replace("`", ""))
