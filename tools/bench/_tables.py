"""Tables in Markdown, for a terminal and for a docs page, and the progress of a run."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from statistics import median, quantiles
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from bench._record import Record

BEGIN, END = "<!--- figures -->", "<!--- end of figures -->"
DASH = "\N{EN DASH}"
BAD = ("over", "under", "slower")


def number(value: float | None, like: float | None = None) -> str:
    """Return a value with three digits, or with as many decimals as `like`."""
    if value is None:
        return DASH
    size = abs(value if like is None else like)
    return f"{value:,.{2 if size < 10 else 1 if size < 100 else 0}f}"


def with_spread(values: list[float]) -> str:
    """Return the median ± half the distance between the quartiles."""
    if len(values) < 2:
        return number(values[0] if values else None)
    middle = median(values)
    low, _, high = quantiles(values, n=4)
    return f"{number(middle)} ± {number((high - low) / 2, middle)}"


def table(title: str, columns: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Return a table as lines of Markdown, after an empty line."""
    body = [[f"**{cell}**" if cell in BAD else cell for cell in row] for row in rows]
    widths = [max(3, *map(len, cells)) for cells in zip(columns, *body, strict=True)]
    rules = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = ["", f"**{title}**", ""]
    for first, *others in (columns, rules, *body):
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        lines.append(f"| {' | '.join([first.ljust(widths[0]), *cells])} |")
    return lines


def markdown(record: Record, lines: Iterable[str]) -> str:
    """Return the machine of a run, its tables and its failures."""
    failures = [f"\nNot measured: {failure.splitlines()[0]}" for failure in record.failures]
    machine = (f"- {key}: {value}" for key, value in record.machine.items())
    return "\n".join([*machine, *lines, *failures]) + "\n"


def show(text: str) -> None:
    """Print Markdown; in a terminal, as tables."""
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        print(text, end="")


def update(page: Path, text: str) -> None:
    """Put `text` between the two marks of a page."""
    content = page.read_text(encoding="utf-8")
    before, begin, rest = content.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} lacks the marks {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")


@contextmanager
def progress(console: Console, total: int) -> Iterator[Callable[[str], None]]:
    """Show the current one of `total` steps: as a bar in a terminal, otherwise as a line each."""
    if not console.is_terminal:
        yield lambda title: print(title, file=console.file, flush=True)
        return
    columns = (SpinnerColumn(), BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("", total=total)
        steps = iter(range(total))
        yield lambda title: shown.update(task, completed=next(steps, total), description=title)
