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
from spatch_core._description.description import Description
from spatch_core._discovery.environment import read_environment
from spatch_core._order.ordering import Order, order_backends
from spatch_core._type_patterns import TypePattern

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


def rings(number: int, count: int) -> dict[str, Any]:
    """Many small circles."""
    return {"primary_types": ["numpy:ndarray"], "higher_priority_than": [name(number ^ 1)]}


def describe(family: Describe, count: int = COUNT) -> list[Description]:
    library = Description("default", (TypePattern("numpy:ndarray"),), in_code=True)
    described = [library]
    for number in range(count):
        fields = family(number, count)
        described.append(
            Description(
                name(number),
                tuple(map(TypePattern, fields["primary_types"])),
                tuple(map(TypePattern, fields.get("secondary_types", ()))),
                higher_priority_than=tuple(fields.get("higher_priority_than", ())),
                lower_priority_than=tuple(fields.get("lower_priority_than", ())),
            )
        )
    return described


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


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_thousand_backends_are_ordered_without_deep_recursion(family: Describe) -> None:
    """P11: a chain of edges may be as long."""
    descriptions = describe(family)
    with shallow(f"{COUNT} backends, {family.__name__}"):
        order = order_backends(descriptions)
    forwards = [name(number) for number in range(COUNT)]
    if family in (chain, chain_of_distinct):
        expected = ["default", *reversed(forwards)]
    elif family is bold:
        expected = [*forwards, "default"]
    else:
        expected = ["default", *forwards]
    assert list(order.names) == expected


def calls(family: Describe, count: int) -> int:
    """Count the calls, also of built-in functions, that ordering makes."""
    descriptions = describe(family, count)
    counted = 0

    def count_call(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    earlier = sys.getprofile()
    sys.setprofile(count_call)
    try:
        order_backends(descriptions)
    finally:
        sys.setprofile(earlier)
    return counted


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_not_every_pair_is_compared(family: Describe) -> None:
    """P11: four times the backends are not sixteen times the work."""
    few, many = calls(family, 200), calls(family, 800)
    print(f"{family.__name__}: {few} calls, then {many}")  # noqa: T201  # for the record
    assert many < 6 * few


def test_a_circle_of_a_thousand_is_mended_by_the_value_that_is_shown() -> None:
    """P9, P11: the library then has all of them."""
    descriptions = describe(ring)
    with shallow(f"a circle of {COUNT}"):
        order = order_backends(descriptions)
    (cycle,) = order.cycles
    assert order.names == ("default",)
    assert len(cycle.path) == COUNT + 1
    assert len(set(cycle.path)) == len(cycle.members) == COUNT
    mended = order_backends(descriptions, read(cycle.set_order))
    assert mended.cycles == ()
    assert len(mended.names) == COUNT + 1


def test_many_circles_are_found_in_one_go() -> None:
    """P9, P11: each is reported."""
    descriptions = describe(rings)
    with shallow(f"{COUNT // 2} circles of two"):
        order = order_backends(descriptions)
    assert order.names == ("default",)
    assert len(order.cycles) == COUNT // 2
    value = ",".join(cycle.set_order for cycle in order.cycles)
    assert len(order_backends(descriptions, read(value)).names) == COUNT + 1


def read(value: str) -> tuple[tuple[str, str], ...]:
    environment = read_environment("LIB", {"LIB_SET_ORDER": value})
    assert environment.problems == ()
    return environment.set_order


@pytest.mark.parametrize("family", [same, distinct, straight_chain], ids=lambda each: each.__name__)
def test_the_environment_may_order_a_thousand(family: Describe) -> None:
    """P3, P11: against the base order, and against declared edges."""
    descriptions = describe(family)
    value = ">".join(name(number) for number in reversed(range(COUNT)))
    order: Order | None = None
    with shallow(f"SET_ORDER of {COUNT} names, {family.__name__}"):
        order = order_backends(descriptions, read(value))
    assert list(order.names) == ["default", *(name(n) for n in reversed(range(COUNT)))]


def test_a_circle_of_a_thousand_in_the_environment_is_found() -> None:
    """S14, P11: the value is ignored."""
    value = ">".join(name(number % COUNT) for number in range(COUNT + 1))
    with shallow(f"a circle of {COUNT} in SET_ORDER"):
        environment = read_environment("LIB", {"LIB_SET_ORDER": value})
    assert environment.set_order == ()
    assert len(environment.problems) == 1


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
    """P11, C1: loading, the first call, and what it says about itself."""
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
    """P9, P11, E2: one warning names it."""
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
