"""Times statements in short bursts and in turn, so that a busy machine disturbs all alike."""

from __future__ import annotations

import random
import sys
import time
from dataclasses import dataclass, field
from timeit import Timer
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Samples: TypeAlias = dict[str, list[float]]
"""Seconds, one for each round; lists of the same length were taken side by side."""

# The processor's time, where it is fine enough: it leaves out what other processes take.
clock = time.perf_counter if sys.platform == "win32" else time.process_time

_WARM_UP = 2000
_BURSTS = 3


@dataclass(frozen=True)
class Case:
    """A statement to time.

    Parameters
    ----------
    name : str
        Its name among the samples.
    statement : str
        Python code.
    namespace : dict
        Its globals.
    calls : int
        How many times it does what is measured.
    """

    name: str
    statement: str
    namespace: dict[str, Any] = field(repr=False)
    calls: int = 1

    def timer(self) -> Timer:
        return Timer(self.statement, timer=clock, globals=self.namespace)


def sample(cases: Iterable[Case], rounds: int, burst: float, seed: int = 0) -> Samples:
    """Time every case once a round, in another order each time.

    Parameters
    ----------
    cases : iterable of Case
        Those that are compared with each other.
    rounds : int
        How many samples to take of each.
    burst : float
        Seconds. A sample is the best of three bursts of this length.
    seed : int, optional
        For the order.

    Returns
    -------
    Samples
        Seconds for each time that a case does what is measured.
    """
    prepared = []
    samples: Samples = {}
    for case in cases:
        timer = case.timer()
        timer.timeit(_WARM_UP // case.calls)
        once = min(timer.timeit(200) for _ in range(5)) / 200
        prepared.append((case, timer, max(1, round(burst / max(once, 1e-9)))))
        samples[case.name] = []
    shuffle = random.Random(seed).shuffle
    for _ in range(rounds):
        shuffle(prepared)
        for case, timer, number in prepared:
            best = min(timer.timeit(number) for _ in range(_BURSTS))
            samples[case.name].append(best / number / case.calls)
    return samples
