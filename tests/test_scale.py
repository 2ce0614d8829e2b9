"""1,000 backends: no deep recursion, not every pair compared; the time is printed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from spatch_core import BackendSkippedWarning, BackendSystem

COUNT = 1000
Describe = Callable[[int, int], dict[str, Any]]


def name(number: int) -> str:
    return f"b{number:04}"


def same(number: int, count: int) -> dict[str, Any]:
    return {"primary_types": ["numpy:ndarray"]}


def distinct(number: int, count: int) -> dict[str, Any]:
    return {"primary_types": [f"package{number}:Array"]}


def converting(number: int, count: int) -> dict[str, Any]:
    """Each has a type of its own, and takes the common one too."""
    return {"primary_types": [f"package{number}:Array"], "secondary_types": ["numpy:ndarray"]}


def widening(number: int, count: int) -> dict[str, Any]:
    """All have the common type, and each takes one more."""
    return {"primary_types": ["numpy:ndarray"], "secondary_types": [f"package{number}:Array"]}


def narrow_and_wide(number: int, count: int) -> dict[str, Any]:
    """Half of them take subclasses too, and each takes one more type."""
    prefix = "~" if number % 2 else ""
    return {**widening(number, count), "primary_types": [f"{prefix}numpy:ndarray"]}


def modest(number: int, count: int) -> dict[str, Any]:
    """What many a careful backend author writes."""
    return {"primary_types": ["numpy:ndarray"], "lower_priority_than": ["default"]}


def bold(number: int, count: int) -> dict[str, Any]:
    return {"primary_types": ["numpy:ndarray"], "higher_priority_than": ["default"]}


def chain(number: int, count: int) -> dict[str, Any]:
    """Each goes before the one ahead of it in the base order."""
    after = [name(number - 1)] if number else []
    return {"primary_types": ["numpy:ndarray"], "higher_priority_than": after}


def chain_of_distinct(number: int, count: int) -> dict[str, Any]:
    return {**chain(number, count), **distinct(number, count)}


def straight_chain(number: int, count: int) -> dict[str, Any]:
    """Each goes before the one behind it."""
    return {"primary_types": ["numpy:ndarray"], "higher_priority_than": [name(number + 1)]}


FAMILIES: list[Describe] = [
    same,
    distinct,
    converting,
    widening,
    narrow_and_wide,
    modest,
    bold,
    chain,
    chain_of_distinct,
    straight_chain,
]


def ring(number: int, count: int) -> dict[str, Any]:
    return {
        "primary_types": ["numpy:ndarray"],
        "higher_priority_than": [name((number + 1) % count)],
    }


@contextmanager
def shallow(what: str) -> Iterator[None]:
    """Allow 100 nested calls, which no algorithm that recurses over backends gets by with."""
    depth = 0
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 100)
    begin = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - begin
        sys.setrecursionlimit(limit)
        print(f"{what}: {1000 * seconds:.0f} ms")  # noqa: T201  # recorded, never asserted


def answer(x: object) -> str:
    return "b"


def library(family: Describe) -> tuple[BackendSystem, Any]:
    backends = [
        {
            "name": name(number),
            **family(number, COUNT),
            "functions": {"lib:function": {"function": f"{__name__}:answer"}},
        }
        for number in range(COUNT)
    ]
    system = BackendSystem(None, "TEST_SCALE", ["builtins:int"], backends=backends)

    @system.dispatchable("x", module="lib", qualname="function")
    def function(x: object) -> str:
        return "default"

    return system, function


@pytest.mark.parametrize("family", [*FAMILIES], ids=lambda family: family.__name__)
def test_a_library_with_a_thousand_backends_answers(family: Describe) -> None:
    """P1, C1: loading, the first call, and what it says about itself."""
    system, function = library(family)
    array = type("ndarray", (), {"__module__": "numpy"})()
    special = type("Array", (), {"__module__": "package7"})()
    with shallow(f"the first call with {COUNT} backends, {family.__name__}"):
        answers = function(1), function(array), function(special)
    knows_array = "numpy:ndarray" in family(0, COUNT)["primary_types"]
    knows_special = "package7:Array" in family(7, COUNT)["primary_types"]
    assert answers == (
        "default",
        "b" if knows_array else "default",
        "b" if knows_special else "default",
    )
    with shallow(f"explain with {COUNT} backends, {family.__name__}"):
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
    with shallow(f"a call that matches all {COUNT} on a circle"):
        assert function(array) == "default"
    with system.backend_opts(prioritize=name(7)):
        assert function(array) == "b"
    assert list(system.backends) == ["default", *map(name, range(COUNT))]
    assert len(system.problems) == COUNT
