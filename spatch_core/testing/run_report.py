"""What a backend did in each test: the table, the JSON and the fixture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = ["BackendInTest"]

FORMAT = 1
"""The version of the JSON format. Later versions only add keys."""
SHOWN = 3
"""The largest number of reasons and of tests in each list of the table."""
ANSWERED, DEFERRED, UNSEEN = "answered", "deferred", "unseen"
Outcomes: TypeAlias = "Counter[tuple[str, str, str]]"
"""How many calls the backend has answered, deferred or never seen, by function and reason."""
_HEAD = ("FUNCTION", "ANSWERED", "DEFERRED", "NEVER SAW", "TESTS")


def reasons(outcomes: Outcomes, outcome: str) -> dict[str, dict[str, int]]:
    """Return the numbers of calls with this outcome, by function and by reason."""
    found: dict[str, dict[str, int]] = {}
    for (each, function, reason), number in outcomes.items():
        if each == outcome:
            found.setdefault(function, {})[reason] = number
    return found


@dataclass(frozen=True, slots=True)
class BackendInTest:
    """The backend under which a test runs: the fixture ``spatch_backend`` for pytest.

    Parameters
    ----------
    name : str
        ``"default"`` without ``--spatch-backend``.
    converts : bool
        Whether each call is made with objects of the backend.
    outcomes : Counter
        The outcomes of the calls of the test so far.
    """

    name: str
    converts: bool = False
    outcomes: Outcomes = field(default_factory=Counter)

    @property
    def answered(self) -> dict[str, int]:
        """By the function's identifier, how many calls the backend has answered."""
        found = reasons(self.outcomes, ANSWERED)
        return {function: sum(numbers.values()) for function, numbers in found.items()}

    @property
    def deferred(self) -> dict[str, list[str]]:
        """By the function's identifier, the reasons for which the backend has deferred."""
        return {name: [*numbers] for name, numbers in reasons(self.outcomes, DEFERRED).items()}


class RunReport:
    """The outcomes of the calls of all tests of a run."""

    def __init__(self, about: Mapping[str, Any], implemented: Iterable[str]) -> None:
        self._about = dict(about)  # the library and the backend, for the JSON
        self._implemented = list(implemented)
        self._outcomes: Outcomes = Counter()
        self._tests_of: Counter[str] = Counter()  # by function
        self._tests: dict[str, bool] = {}  # whether each test has reached the backend

    def add(self, test: str, outcomes: Outcomes) -> None:
        """Add the outcomes of a test."""
        self._outcomes.update(outcomes)
        is_reached = any(outcome != UNSEEN for outcome, _, _ in outcomes)
        self._tests[test] = self._tests.get(test, False) or is_reached
        self._tests_of.update({function for _, function, _ in outcomes})

    def content(self) -> dict[str, Any]:
        """Return the report as a dictionary for JSON."""
        answered, deferred, unseen = self._by_outcome()
        return {
            "format": FORMAT,
            **self._about,
            "functions": {
                name: {
                    "answered": sum(answered.get(name, {}).values()),
                    "deferred": deferred.get(name, {}),
                    "unseen": unseen.get(name, {}),
                    "tests": self._tests_of[name],
                }
                for name in sorted(self._tests_of)
            },
            "not_called": self._not_called,
            "tests": len(self._tests),
            "not_reached": self._not_reached,
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines of the table and of the lists below it."""
        by_outcome = self._by_outcome()
        rows: list[tuple[str, ...]] = [_HEAD]
        for name in sorted(self._tests_of):
            counts = (sum(each.get(name, {}).values()) for each in by_outcome)
            rows.append((name, *map(str, counts), str(self._tests_of[name])))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
            yield "  ".join([first.ljust(widths[0]), *cells])
            for words, found in zip(("deferred", "never saw"), by_outcome[1:], strict=True):
                for reason, number in _most_frequent(found.get(first, {})):
                    yield f"    {number} {words}: {reason}"
        yield ""
        title = f"functions of the backend that were not called ({len(self._not_called)})"
        yield from _listed(title, self._not_called)
        title = f"tests that never reached it ({len(self._not_reached)} of {len(self._tests)})"
        yield from _listed(title, self._not_reached)

    def _by_outcome(self) -> list[dict[str, dict[str, int]]]:
        return [reasons(self._outcomes, each) for each in (ANSWERED, DEFERRED, UNSEEN)]

    @property
    def _not_called(self) -> list[str]:
        return [each for each in self._implemented if each not in self._tests_of]

    @property
    def _not_reached(self) -> list[str]:
        return sorted(test for test, is_reached in self._tests.items() if not is_reached)


def _most_frequent(numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the most frequent reasons."""
    ordered = sorted(numbers.items(), key=lambda each: (-each[1], each[0]))
    rest = ordered[SHOWN:]
    if rest:
        ordered[SHOWN:] = [(f"{len(rest)} other reasons", sum(number for _, number in rest))]
    return ordered


def _listed(title: str, names: list[str]) -> Iterator[str]:
    yield title + (":" if names else "")
    for each in names[:SHOWN]:
        yield f"    {each}"
    if len(names) > SHOWN:
        yield f"    and {len(names) - SHOWN} more, which the JSON has"
