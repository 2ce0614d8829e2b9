"""Shows a run: as tables in a terminal, or as the part of the docs page that it fills."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from bench._figures import FIGURES, FORMS, Figure, compared
from bench._peers import DISPATCHERS
from bench._tables import DASH, OK, OVER, Sheet, number, sheet_lines, show_sheets, with_spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from bench._sampling import Samples

MODES = {"pure": "pure Python", "accelerated": "accelerated"}


@dataclass
class Run:
    """What was measured; all of it can be written as JSON.

    Parameters
    ----------
    machine : dict of str to str
        On what.
    samples : dict of str to Samples
        For each mode, ``"pure"`` and perhaps ``"accelerated"``.
    instructions : dict of str to dict
        For each mode, the instructions of each call; empty if they were not counted.
    unwanted : dict of str to list
        For each mode, modules that a library's import brings and should not.
    failures : list of str
        What could not be measured.
    """

    machine: dict[str, str]
    samples: dict[str, Samples] = field(default_factory=dict)
    instructions: dict[str, dict[str, float]] = field(default_factory=dict)
    unwanted: dict[str, list[str]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def modes(self) -> list[str]:
        return [mode for mode in MODES if mode in self.samples]


def sheets(run: Run) -> Iterator[Sheet]:
    """Yield the tables of a run."""
    for title, figures in FIGURES.items():
        yield _figures(run, title, figures)
    yield _side_by_side(run)
    if run.instructions:
        yield _instructions(run)


def _figures(run: Run, title: str, figures: tuple[Figure, ...]) -> Sheet:
    # Nothing in the group may be aimed at with the accelerator, or measured with it.
    modes = [
        mode
        for mode in MODES
        if mode in run.samples or any(each.aim(mode) is not None for each in figures)
    ]
    columns = ["", "in"]
    for mode in modes:
        columns += [MODES[mode], "at most", ""]
    rows = []
    for figure in figures:
        row = [figure.title, figure.unit]
        for mode in modes:
            row += _cells(figure.rounds(run.samples.get(mode, {})), figure.aim(mode))
        rows.append(row)
        if figure.samples == "library":
            rows.append(_unwanted(run, modes))
    return Sheet(title, columns, rows, left=2)


def _cells(rounds: list[float], aim: float | None) -> list[str]:
    """Return the median with half the distance of the quartiles, the aim, the verdict."""
    if not rounds:
        return [DASH, number(aim), ""]
    verdict = "" if aim is None else OK if median(rounds) <= aim else OVER
    return [with_spread(rounds), number(aim), verdict]


def _unwanted(run: Run, modes: list[str]) -> list[str]:
    row = ["… brings `inspect`, `re` or the like", ""]
    for mode in modes:
        found = run.unwanted.get(mode)
        if found is None:
            row += [DASH, "none", ""]
        else:
            row += [", ".join(found) or "none", "none", OVER if found else OK]
    return row


def _side_by_side(run: Run) -> Sheet:
    rows = []
    for name, cls in DISPATCHERS.items():
        # Others do not depend on the mode.
        modes = [[mode] for mode in run.modes()] if name == "spatch" else [run.modes()]
        for chosen in modes:
            samples = _joined(run, chosen)
            title = f"**{cls.title}, {MODES[chosen[0]]}**" if name == "spatch" else cls.title
            values = [compared(samples, name, form) for form in FORMS]
            if any(value is not None for value in values):
                rows.append([title, *map(number, values)])
    raw = _joined(run, run.modes()).get("raw/two", [])
    nanoseconds = f"{median(raw) * 1e9:.0f} ns" if raw else DASH
    return Sheet(
        f"Side by side, in multiples of the bare function ({nanoseconds} for two arguments)",
        ["", *FORMS.values()],
        rows,
    )


def _joined(run: Run, modes: list[str]) -> Samples:
    joined: Samples = {}
    for mode in modes:
        for name, values in run.samples[mode].items():
            joined[name] = [*joined.get(name, []), *values]
    return joined


def _instructions(run: Run) -> Sheet:
    rows = []
    for name, cls in DISPATCHERS.items():
        for mode in run.instructions if name == "spatch" else list(run.instructions)[:1]:
            counted = run.instructions[mode]
            values = [counted.get(f"{name}/{form}") for form in FORMS]
            if any(value is not None for value in values):
                title = f"**{cls.title}, {MODES[mode]}**" if name == "spatch" else cls.title
                rows.append(
                    [title, *(DASH if value is None else f"{value:,.0f}" for value in values)]
                )
    return Sheet("Instructions of a call", ["", *FORMS.values()], rows)


def show(run: Run, console: Console) -> None:
    """Print a run's tables."""
    show_sheets(run.machine, sheets(run), run.failures, console)


def markdown(runs: Iterable[Run]) -> str:
    """Return runs as Markdown, each under its interpreter."""
    return "\n".join(map(_markdown, runs))


def _markdown(run: Run) -> str:
    lines = [f"### {run.machine['interpreter']}", ""]
    lines += [f"- {key}: {value}" for key, value in run.machine.items()]
    for sheet in sheets(run):
        lines += sheet_lines(sheet)
    for failure in run.failures:
        lines += ["", f"Not measured: {failure.splitlines()[0]}"]
    return "\n".join(lines) + "\n"


def load_run(fields: dict[str, Any]) -> Run:
    """Return the run that was written as JSON."""
    return Run(**fields)
