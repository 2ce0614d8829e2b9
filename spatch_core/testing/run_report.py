"""The report of a run of tests under a backend, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .call_outcomes import CallOutcomes

FORMAT = 1
"""The version of the JSON format. Later versions only add keys."""
SHOWN = 3
"""The largest number of reasons and of tests in each list of the table."""
_HEAD = ("FUNCTION", "ANSWERED", "DEFERRED", "NEVER SAW", "TESTS")


class RunReport:
    """The outcomes of the calls of all tests.

    Parameters
    ----------
    about : mapping of str to object
        The library, the backend and its distribution, for the JSON.
    implemented : iterable of str
        The functions that the backend implements.

    Attributes
    ----------
    expected : dict of str to int
        The number of tests that failed as expected, by identifier of the function.
    """

    def __init__(self, about: Mapping[str, Any], implemented: list[str]) -> None:
        self._about = dict(about)
        self._implemented = implemented
        self._total = CallOutcomes()
        self._tests_of: dict[str, int] = {}
        self._tests: dict[str, bool] = {}
        self.expected: dict[str, int] = {}

    def add(self, test: str, noted: Mapping[str, Any], expected: str) -> None:
        """Add the outcomes of a test; `expected` is the function that explains a failure."""
        outcomes = CallOutcomes(**noted)
        self._total.add(outcomes)
        self._tests[test] = self._tests.get(test, False) or outcomes.is_reached
        for function in {**outcomes.answered, **outcomes.deferred, **outcomes.unseen}:
            self._tests_of[function] = self._tests_of.get(function, 0) + 1
        if expected:
            self.expected[expected] = self.expected.get(expected, 0) + 1

    def needless(self, functions: Mapping[str, str]) -> list[str]:
        """Return the functions that the backend answered without any expected failure."""
        return [
            each for each in functions if each in self._answered and not self.expected.get(each)
        ]

    @property
    def _answered(self) -> dict[str, int]:
        return self._total.answered

    def content(self) -> dict[str, Any]:
        """Return the report as a dictionary for JSON."""
        total = self._total
        return {
            "format": FORMAT,
            **self._about,
            "functions": {
                name: {
                    "answered": total.answered.get(name, 0),
                    "deferred": total.deferred.get(name, {}),
                    "unseen": total.unseen.get(name, {}),
                    "tests": self._tests_of[name],
                }
                for name in sorted(self._tests_of)
            },
            "not_called": [each for each in self._implemented if each not in self._tests_of],
            "tests": len(self._tests),
            "not_reached": self._not_reached,
            "expected_failures": self.expected,
        }

    @property
    def _not_reached(self) -> list[str]:
        return sorted(test for test, is_reached in self._tests.items() if not is_reached)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the table and of the lists below it."""
        total = self._total
        rows: list[tuple[str, ...]] = [_HEAD]
        reasons: dict[str, list[str]] = {}
        for name in sorted(self._tests_of):
            counts = [sum(each.get(name, {}).values()) for each in (total.deferred, total.unseen)]
            numbers = (total.answered.get(name, 0), *counts, self._tests_of[name])
            rows.append((name, *map(str, numbers)))
            reasons[name] = [
                f"    {count} {what}: {reason}"
                for what, found in (("deferred", total.deferred), ("never saw", total.unseen))
                for reason, count in _most(found.get(name, {}))
            ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
            yield "  ".join([first.ljust(widths[0]), *cells])
            yield from reasons.get(first, [])
        yield ""
        not_called = [each for each in self._implemented if each not in self._tests_of]
        title = f"functions of the backend that were not called ({len(not_called)})"
        yield from _listed(title, not_called)
        found = self._not_reached
        yield from _listed(
            f"tests that never reached it ({len(found)} of {len(self._tests)})", found
        )
        if self.expected:
            count = sum(self.expected.values())
            yield f"tests that failed as expected of their functions: {count}"


def _most(reasons: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the most frequent reasons."""
    ordered = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    rest = ordered[SHOWN:]
    if rest:
        ordered[SHOWN:] = [(f"{len(rest)} other reasons", sum(count for _, count in rest))]
    return ordered


def _listed(title: str, names: list[str]) -> Iterator[str]:
    yield title + (":" if names else "")
    for each in names[:SHOWN]:
        yield f"    {each}"
    if len(names) > SHOWN:
        yield f"    and {len(names) - SHOWN} more, which the JSON has"
