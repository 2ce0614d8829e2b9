"""The figures and their targets, their computation from samples, and the tables that show them."""

from __future__ import annotations

from math import comb
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from bench._peers import PEERS
from bench._tables import DASH, number, table, with_spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench._record import Record

RAW, BARE, METHOD, PARTIAL, ONE_TYPE, SWITCH, BY_HAND, ALONE, THAT = (
    f"\N{MULTIPLICATION SIGN} {other}"
    for other in (
        *("raw", "bare wrapper", "bare method", "partial", "one type"),
        *("set and reset", "a dictionary", "entry_points()", "that"),
    )
)
UNITS = {"ns": 1e9, "µs": 1e6, "ms": 1e3}
MODES = {"pure": "pure Python", "accelerated": "accelerated"}
OLD = "old "
"""The prefix of the mode in names of samples of the other version."""


class Figure(NamedTuple):
    """One line of a table: the samples, the reference, and the targets ("at most").

    The unit is a unit of time, or the name of the reference if the figure is a ratio.
    """

    title: str
    unit: str
    samples: str
    against: str = ""
    pure: float | None = None
    accelerated: float | None = None

    def rounds(self, record: Record, mode: str) -> list[float]:
        """Return the figure of every round; empty if it was not measured."""
        name, other = f"{mode}/{self.samples}", f"{mode}/{self.against}"
        if not self.against:
            return [seconds * UNITS[self.unit] for seconds in record.seconds(name)]
        if self.unit not in UNITS:
            return record.ratios(name, other)
        pairs = (pair for process in record.pairs(name, other) for pair in process)
        return [(one - two) * UNITS[self.unit] for one, two in pairs]


CONTROL = Figure("the bare function (control)", RAW, "raw/two")
FIGURES = {
    "Calls": [
        Figure("1 dispatch argument", RAW, "spatch/one", "raw/one", 4.5, 2.0),
        Figure("1 dispatch argument", BARE, "spatch/one", "bare/one", 1.3, 0.5),
        Figure("2, positional", RAW, "spatch/two", "raw/two", 5.0, 2.0),
        Figure("2, positional", BARE, "spatch/two", "bare/two", 1.3, 0.5),
        Figure("2, positional", PARTIAL, "spatch/two", "partial/two"),
        Figure("3, positional", RAW, "spatch/three", "raw/three", 6.0, 2.0),
        Figure("3, positional", BARE, "spatch/three", "bare/three", 1.3, 0.5),
        Figure("2, a backend's implementation", RAW, "spatch/other", "raw/two"),
        Figure("2, one of them by keyword", BARE, "spatch/keyword", "bare/keyword", 1.8, 0.35),
        Figure("12 types in turn", ONE_TYPE, "spatch/12 types", "spatch/one type", 1.2, 1.3),
        Figure("a function no backend implements", RAW, "spatch/alone", "raw/two", 3.0, 1.8),
        Figure("`should_run` that says True", RAW, "spatch/asking", "raw/two", 12.0, 8.0),
        Figure("a backend that defers, then another", RAW, "spatch/deferring", "raw/two"),
        Figure("refused, with the reasons", "µs", "spatch/refused"),
        Figure("two arguments and the result converted", "µs", "spatch/converted"),
        Figure("`like=`, a backend's implementation", RAW, "spatch/like", "raw/two"),
        Figure("elements of a list of 2 (`inside=`)", RAW, "spatch/inside", "raw/two"),
    ],
    "Around calls": [
        Figure("`with opts(...)`, built anew", SWITCH, "block/new", "variable", 5.0),
        Figure("`with opts(...)`, reused", SWITCH, "block/reused", "variable", 2.5),
        Figure("a hook that passes a call on", "µs", "hook/through", "hook/plain", 3.0, 3.0),
        Figure("no backend implements it, after a hook", RAW, "hook/after", "hook/raw", 3.0, 1.8),
        Figure(
            "a method, 1 dispatch argument", METHOD, "method/dispatched", "method/raw", 4.5, 2.0
        ),
        Figure("a class that overrides by the protocol", "µs", "protocol/own"),
        Figure("a subclass through the library's mixin", "µs", "protocol/subclass"),
        Figure("new state and first call, 100 backends", "µs", "state/100", "", 100.0),
        Figure("… 900 more that lack the function", THAT, "state/1000", "state/100", 1.2),
        Figure("… all 100 implement the function", "µs", "state/all 100"),
        Figure("read and order 200 backends of 1 function", "ms", "order/1"),
        Figure("… of 100 functions each", "ms", "order/100"),
        Figure("decorate a function", "µs", "decorate", "", 15.0),
    ],
    "Protocols": [
        Figure(
            "`np.mean(duck)`", BY_HAND, "protocol/mean backend", "protocol/mean by hand", 1.0, 1.0
        ),
        Figure("`duck + duck`", BY_HAND, "protocol/add backend", "protocol/add by hand", 1.0, 1.0),
        Figure(
            "`system.lookup(identity, types)`",
            "ns",
            "protocol/lookup",
            "protocol/nothing",
            None,
            50.0,
        ),
    ],
    "Processes": [
        Figure("`import spatch_core`", "ms", "import", "", 12.0),
        Figure("the import of a library", "ms", "library", "", 12.0),
        Figure("discovery among 50 installed", ALONE, "50/discovered", "50/alone", 2.0),
        Figure("discovery among 500 installed", ALONE, "500/discovered", "500/alone", 2.0),
        Figure("100 backends of 100 functions, first call", "ms", "toml/first"),
        Figure("… without entry_points()", "ms", "toml/first", "toml/alone"),
    ],
}

# The calls by which dispatchers are compared, and the calls of the bare function beside them.
FORMS = {
    "one": "1 argument",
    "two": "2",
    "three": "3",
    "keyword": "keyword",
    "other": "backend",
    "12 types": "12 types",
    "alone": "no backend",
}
RAW_FORMS = {"other": "two", "12 types": "one type", "alone": "two"}


def tables(record: Record) -> Iterator[str]:
    """Yield the lines of a run's tables."""
    modes = [mode for mode in MODES if any(name.startswith(mode) for name in record.samples)]
    for title, figures in FIGURES.items():
        if record.notes.get("against"):
            rows = _compare(record, modes, [CONTROL, *figures] if title == "Calls" else figures)
            columns = [
                each for mode in modes for each in (MODES[mode], "new / old", "slower in", "")
            ]
            if rows:  # only one version has some figures
                yield from table(title, ["", *columns], rows)
        else:
            columns = [each for mode in modes for each in (MODES[mode], "at most", "")]
            rows = [_row(record, modes, figure) for figure in figures]
            yield from table(title, ["", "in", *columns], rows)
    if not record.notes.get("against"):
        yield from _side_by_side(record, modes)


def _row(record: Record, modes: list[str], figure: Figure) -> list[str]:
    row = [figure.title, figure.unit]
    for mode in modes:
        found, aim = figure.rounds(record, mode), getattr(figure, mode)
        verdict = ""
        if aim is not None and found:
            verdict = "ok" if median(found) <= aim else "over"
        row += [with_spread(found), number(aim), verdict]
    return row


def _side_by_side(record: Record, modes: list[str]) -> list[str]:
    rows = []
    for name, peer in PEERS.items():
        # Other dispatchers do not depend on the mode.
        for mode in modes if name == "spatch" else modes[:1]:
            title = f"**{peer.title}, {MODES[mode]}**" if name == "spatch" else peer.title
            values = [compared(record, mode, name, form) for form in FORMS]
            if set(values) != {None}:
                rows.append([title, *map(number, values)])
    raw = record.seconds("pure/raw/two")
    nanoseconds = f"{median(raw) * 1e9:.0f} ns" if raw else DASH
    title = f"Side by side, in multiples of the bare function ({nanoseconds} for two arguments)"
    return table(title, ["", *FORMS.values()], rows)


def compared(record: Record, mode: str, dispatcher: str, form: str) -> float | None:
    """Return the cost of a dispatcher's call in multiples of the bare function's."""
    raw = f"{mode}/raw/{RAW_FORMS.get(form, form)}"
    rounds = record.ratios(f"{mode}/{dispatcher}/{form}", raw)
    return median(rounds) if rounds else None


def _compare(record: Record, modes: list[str], figures: list[Figure]) -> list[list[str]]:
    rows: dict[str, list[str]] = {}
    for figure in figures:
        row = [figure.title]
        for mode in modes:
            name = f"{mode}/{figure.samples}"
            row += _versions(record, name, f"{OLD}{name}")
        if set(row[1:]) - {DASH, ""}:
            rows.setdefault(figure.samples, row)
    return list(rows.values())


def _versions(record: Record, new: str, old: str) -> list[str]:
    """Return the new time, its ratio to the old one, the number of slower pairs, and a verdict.

    Only processes are independent: in all rounds of one, objects lie in the same places. So
    each ratio is the median of a pair of processes, and the verdict is a sign test over pairs.
    """
    ratios = [median(one / two for one, two in each) for each in record.pairs(new, old) if each]
    if not ratios:
        return [DASH, DASH, DASH, ""]
    slower, faster = sum(each > 1 for each in ratios), sum(each < 1 for each in ratios)
    verdict = "slower" if slower > faster else "faster"
    # The probability of at least this many heads (or tails) in tosses of a coin.
    least, count = max(slower, faster), len(ratios)
    chance = 2 * sum(comb(count, each) for each in range(least, count + 1)) / 2**count
    value = median(record.seconds(new))
    unit = next((unit for unit, scale in UNITS.items() if value * scale < 1000), "ms")
    told = f"{number(value * UNITS[unit])} {unit}"
    return [told, with_spread(ratios), f"{slower} of {count}", verdict if chance < 0.005 else ""]
