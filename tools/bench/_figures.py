"""The figures to reach, and how each follows from the samples."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench._sampling import Samples

TIMES = "\N{MULTIPLICATION SIGN}"
RAW = f"{TIMES} raw"
BARE = f"{TIMES} bare wrapper"
PARTIAL = f"{TIMES} partial"
UNITS = {"ns": 1e9, "µs": 1e6, "ms": 1e3}


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    Parameters
    ----------
    title : str
        What is measured.
    unit : str
        ``RAW`` and the like for a ratio, else a unit of time.
    samples : str
        Their name.
    against : str
        Name of the samples that it is compared with, round by round; may be empty.
    pure, accelerated : float or None
        At most; None where nothing is aimed at.
    """

    title: str
    unit: str
    samples: str
    against: str = ""
    pure: float | None = None
    accelerated: float | None = None

    def aim(self, mode: str) -> float | None:
        return self.pure if mode == "pure" else self.accelerated

    def rounds(self, samples: Samples) -> list[float]:
        """Return the figure of every round; empty where it was not measured."""
        own = samples.get(self.samples, [])
        if not self.against:
            return [seconds * UNITS[self.unit] for seconds in own]
        pairs = zip(own, samples.get(self.against, []), strict=False)
        if self.unit in UNITS:
            return [(seconds - other) * UNITS[self.unit] for seconds, other in pairs]
        return [seconds / other for seconds, other in pairs]


def _calls() -> Iterator[Figure]:
    words = {"one": "1 dispatch argument", "two": "2, positional", "three": "3, positional"}
    for (form, title), pure in zip(words.items(), (4.5, 5.0, 6.0), strict=True):
        yield Figure(title, RAW, f"spatch/{form}", f"raw/{form}", pure, 2.0)
        yield Figure(title, BARE, f"spatch/{form}", f"bare/{form}", 1.3, 0.5)
    yield Figure("2, a backend's implementation", RAW, "spatch/other", "raw/two")
    yield Figure("2, one of them by keyword", BARE, "spatch/keyword", "bare/keyword", 1.8, 0.35)
    yield Figure(
        "12 types in turn", f"{TIMES} one type", "spatch/12 types", "spatch/one type", 1.2, 1.3
    )
    yield Figure("2, positional", PARTIAL, "spatch/two", "partial/two")
    yield Figure("a function no backend implements", RAW, "spatch/alone", "raw/two", 3.0, 1.8)
    yield Figure("`should_run` that says True", RAW, "spatch/asking", "raw/two", 12.0, 8.0)


def _setup() -> Iterator[Figure]:
    switch = f"{TIMES} set and reset"
    yield Figure("`with opts(...)`, built anew", switch, "block/new", "variable", 5.0)
    yield Figure("`with opts(...)`, reused", switch, "block/reused", "variable", 2.5)
    yield Figure("new state and first call, 100 backends", "µs", "state/100", "", 100.0)
    yield Figure(
        "… 900 more that lack the function", f"{TIMES} that", "state/1000", "state/100", 1.2
    )
    yield Figure("… all 100 implement the function", "µs", "state/all 100")
    yield Figure("order 1,000 backends of 100 functions", "ms", "order", "", 60.0)
    yield Figure("… and read and check them first", "ms", "build")
    yield Figure("decorate a function", "µs", "decorate", "", 15.0)


def _processes() -> Iterator[Figure]:
    yield Figure("`import spatch_core`", "ms", "import", "pass", 12.0)
    yield Figure("the import of a library", "ms", "library", "pass", 12.0)
    for installed in (50, 500):
        title = f"discovery among {installed} installed"
        for cache, aim in (("cached", 2.0), ("uncached", None)):
            yield Figure(
                title if aim else "… with the cache off",
                f"{TIMES} entry_points()",
                f"discovery {installed}/{cache}",
                f"discovery {installed}/alone",
                aim,
            )
    yield Figure("100 backends of 100 functions, first call", "ms", "toml/first")
    yield Figure("… in a second process", "ms", "toml/second", "", 30.0)
    yield Figure("… without entry_points()", "ms", "toml/second", "toml/alone", 30.0)


FIGURES = {
    "Calls": tuple(_calls()),
    "Around calls": tuple(_setup()),
    "Processes": tuple(_processes()),
}

FORMS = {
    "one": "1 argument",
    "two": "2",
    "three": "3",
    "keyword": "keyword",
    "other": "backend",
    "12 types": "12 types",
    "alone": "no backend",
}
"""Calls that the dispatchers are compared by."""


def compared(samples: Samples, dispatcher: str, form: str) -> float | None:
    """Return how many times the bare function's cost a dispatcher's call takes."""
    raw = {"other": "two", "12 types": "one type", "alone": "two"}.get(form, form)
    figure = Figure("", RAW, f"{dispatcher}/{form}", f"raw/{raw}")
    rounds = figure.rounds(samples)
    return median(rounds) if rounds else None
