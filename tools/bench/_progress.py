"""Shows which step of a benchmark is under way."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console


@contextmanager
def progress(console: Console, total: int) -> Iterator[Callable[[str], None]]:
    """Show which step is under way: a bar in a terminal, a line each elsewhere."""
    if not console.is_terminal:
        yield lambda title: print(title, file=console.file, flush=True)
        return
    columns = (
        SpinnerColumn(),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("", total=total)
        count = 0

        def report(title: str) -> None:
            nonlocal count
            shown.update(task, completed=count, description=title)
            count += 1

        yield report
