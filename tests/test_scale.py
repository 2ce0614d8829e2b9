"""1,000 backends: no deep recursion, not every pair compared."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from spatch_core import BackendSkippedWarning, BackendSystem
from tests.library import answering, describe, make

COUNT = 1000
Describe = Callable[[int], dict[str, Any]]


def name(number: int) -> str:
    return f"b{number % COUNT:04}"


def ring(number: int) -> dict[str, Any]:
    """Each goes before the next one, and the last before the first."""
    return {**ARRAY, "higher_priority_than": [name(number + 1)]}


ARRAY = {"primary_types": ["numpy:ndarray"]}
FAMILIES: dict[str, Describe] = {
    "same": lambda number: ARRAY,
    # Each has a type of its own, and takes the common one too.
    "converting": lambda number: {
        "primary_types": [f"package{number}:Array"],
        "secondary_types": ["numpy:ndarray"],
    },
    # Half of them take subclasses too, and each takes one more type.
    "narrow and wide": lambda number: {
        "primary_types": [f"{'~' * (number % 2)}numpy:ndarray"],
        "secondary_types": [f"package{number}:Array"],
    },
    "before the default": lambda number: {**ARRAY, "higher_priority_than": ["default"]},
    # Each goes before the one ahead of it in the base order.
    "chain": lambda number: ring(number - 2) if number else ARRAY,
}


@contextmanager
def shallow() -> Iterator[None]:
    """Allow 100 nested calls, which no algorithm that recurses over backends gets by with."""
    depth = len(inspect.stack(0))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 100)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def library(family: Describe) -> tuple[BackendSystem, Any]:
    backends = ({**describe(name(each), answering("b")), **family(each)} for each in range(COUNT))
    return make(*backends, types="builtins:int")


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_library_with_a_thousand_backends_answers(family: Describe) -> None:
    """P1, C1: loading, the first call, and what it says about itself."""
    system, function = library(family)
    array = type("ndarray", (), {"__module__": "numpy"})()
    special = type("Array", (), {"__module__": "package7"})()
    with shallow():
        answers = function(1), function(array), function(special)
    knows_array = "numpy:ndarray" in family(0)["primary_types"]
    knows_special = "package7:Array" in family(7)["primary_types"]
    assert answers == (
        "default",
        "b" if knows_array else "default",
        "b" if knows_special else "default",
    )
    with shallow():
        explanation = function.explain(1)
    assert explanation.selected == "default"
    assert len(explanation.backends) == COUNT + 1
    assert len(system.backends) == COUNT + 1
    assert system.problems == ()


def test_a_library_with_a_circle_of_a_thousand_warns_once_and_works() -> None:
    """P6, P1, E2: one warning names it."""
    system, function = library(ring)
    with pytest.warns(BackendSkippedWarning) as caught:
        assert function(1) == "default"
    assert len(caught) == 1
    array = type("ndarray", (), {"__module__": "numpy"})()
    with shallow():
        assert function(array) == "default"
    with system.backend_opts(prioritize=name(7)):
        assert function(array) == "b"
    assert list(system.backends) == ["default", *map(name, range(COUNT))]
    assert len(system.problems) == COUNT
