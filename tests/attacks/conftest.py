"""Attacks are counted: a test fails if it tried none, or if one did not hold.

The checks run a representative part; ``ATTACK_SCALE=20 pytest tests/attacks -m ""`` runs twenty
times as many.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


class Tally:
    """Counts the attacks of one test.

    Attributes
    ----------
    tried, held : int
        How often it was attacked, and how often that changed nothing that was promised.
    failures : list of str
        What happened where it did not hold; the first few.
    """

    def __init__(self) -> None:
        self.tried = 0
        self.held = 0
        self.failures: list[str] = []

    def add(self, held: bool, what: object = "") -> None:
        """Count one attack; `what` says what went wrong if it did not hold."""
        self.add_many(1, int(held), what)

    def add_many(self, tried: int, held: int, what: object = "") -> None:
        """Count attacks that a process of its own has counted."""
        self.tried += tried
        self.held += held
        if held < tried and len(self.failures) < 5:
            self.failures.append(str(what))


@pytest.fixture
def tally() -> Iterator[Tally]:
    """Count attacks; the test fails if none was tried, or if one did not hold."""
    tally = Tally()
    yield tally
    assert tally.tried, "nothing was tried"
    assert tally.held == tally.tried, f"{tally.held} of {tally.tried} held: {tally.failures}"


@pytest.fixture
def scale() -> int:
    """How many times as many attacks as in the checks are made."""
    return int(os.environ.get("ATTACK_SCALE", "1"))
