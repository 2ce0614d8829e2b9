"""P1 to P6: the order of all backends of a library, through `BackendSystem.backends`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from spatch_core import BackendSkippedWarning, BackendSystem
from tests.order.backends import Fields, Order, backend, names, order, ring

# --- the base order ------------------------------------------------------------------


def test_the_default_comes_first() -> None:
    """P2: though every backend's name sorts before it."""
    assert order(backend("a"), backend("A"), backend("0")).names == ("default", "0", "A", "a")


def test_backends_in_code_come_first_and_in_the_order_given() -> None:
    """P2: entry points follow by name."""
    x, z = backend("x", in_code=True), backend("z", in_code=True)
    assert names(backend("c"), z, backend("a"), x, backend("b")) == "z x a b c"


def test_concrete_backends_come_before_abstract_ones() -> None:
    """P2: in-code ones too."""
    assert (
        names(
            backend("a", "@m:Abstract"),
            backend("z", "m:Z"),
            backend("x", "@m:X", in_code=True),
            backend("y", "m:Y", in_code=True),
            backend("b", "~m:B"),
            backend("c", "m:C @m:D"),
        )
        == "y b z x a c"
    )


# --- edges that are declared ---------------------------------------------------------


@pytest.mark.parametrize(
    ("backends", "expected"),
    [
        ([backend("a"), backend("b", higher="a")], "b a"),
        ([backend("a", lower="b"), backend("b")], "b a"),
        ([backend("a", lower="b"), backend("b", higher="a")], "b a"),
        ([backend("own", in_code=True), backend("a", higher="own")], "a own"),
        ([backend("a", higher="absent", lower="absent_too"), backend("b")], "a b"),
        ([backend("a", lower="c"), *map(backend, "bcd")], "b c a d"),
        ([backend("a", lower="c"), backend("b", lower="c"), *map(backend, "cd")], "c a b d"),
        ([backend("a", lower="c b"), *map(backend, "bcd")], "b c a d"),
        ([backend("a", lower="b"), backend("b", lower="d"), *map(backend, "cd")], "c d b a"),
        ([*map(backend, "abc"), backend("d", higher="b")], "a d b c"),
        ([*map(backend, "ab"), backend("c", higher="b"), backend("d", higher="b")], "a c d b"),
        ([*map(backend, "ab"), backend("c", higher="b"), backend("d", higher="c")], "a d c b"),
    ],
    ids=[
        "before another",
        "after another",
        "declared by both",
        "before one in code",
        "names that are not installed declare nothing",
        "down, and no further than it must",
        "down together",
        "down behind the last",
        "down behind one that moves",
        "up, and no further than it must",
        "up together",
        "up before one that moves",
    ],
)
def test_a_backend_goes_where_declarations_put_it(backends: list[Fields], expected: str) -> None:
    """D3, P3, P5: the others keep the base order."""
    assert names(*backends) == expected


@pytest.mark.parametrize(
    ("backends", "expected"),
    [
        ([backend("a"), backend("b", higher="default")], "b default a"),
        ([backend("a", lower="default")], "default a"),
        ([backend("b", higher="default a"), backend("a", higher="default")], "b a default"),
        (
            [backend("a"), backend("b", higher="default"), backend("c", higher="b")],
            "c b default a",
        ),
        (
            [*(backend(name, higher="default") for name in "cab"), backend("B")],
            "a b c default B",
        ),
    ],
    ids=["before", "after", "two", "a chain moves no other", "three keep their order"],
)
def test_a_backend_may_go_before_the_default(backends: list[Fields], expected: str) -> None:
    """P3: "default" is the library."""
    assert " ".join(order(*backends).names) == expected


# --- the environment -----------------------------------------------------------------

CHAIN = [backend("a", higher="b"), backend("b", higher="c"), backend("c")]


@pytest.mark.parametrize(
    ("backends", "set_order", "expected"),
    [
        ([backend("a", higher="b"), backend("b")], "b>a", "default b a"),
        ([backend("a"), backend("b", lower="a")], "b>a", "default b a"),
        ([backend("a"), backend("b")], "b>default", "b default a"),
        ([backend("a", higher="default")], "default>a", "default a"),
        ([backend("a", higher="c"), *map(backend, "bc")], "c>b>a", "default c b a"),
        (CHAIN, "c>a", "default b c a"),
        ([backend("narrow", "m:A"), backend("w", "m:A m:B")], "w>narrow", "default w narrow"),
        (
            [backend("a", higher="b"), backend("b"), backend("y", higher="x"), backend("x")],
            "b>a",
            "default b a y x",
        ),
        ([backend("a"), backend("b")], "p>q,q>b,a>p", "default a b"),
        ([*map(backend, "abcdefg")], "c>a,d>b", "default c a d b e f g"),
        ([*map(backend, "abcdefg")], "d>c>b>a", "default d c b a e f g"),
        ([*map(backend, "abcdefg")], "e>a,e>c,f>a", "default e f a b c d g"),
    ],
    ids=[
        "against higher_priority_than",
        "against lower_priority_than",
        "before the default",
        "after the default",
        "a chain against a declaration",
        "against a chain of declarations",
        "against the types",
        "other declarations stay",
        "unknown names alone change nothing",
        "two pairs",
        "four in a row",
        "two that go before one",
    ],
)
def test_the_environment_overrides_all_other_edges(
    backends: list[Fields], set_order: str, expected: str
) -> None:
    """P3, P5: and the base order is kept wherever the edges allow."""
    found = order(*backends, set_order=set_order)
    assert found.cycles == ()
    if (backends, set_order) == (CHAIN, "c>a"):
        # Which of the two declarations gives way is not promised.
        assert found.names.index("c") < found.names.index("a")
        assert sorted(found.names) == sorted(expected.split())
    else:
        assert " ".join(found.names) == expected


# --- type specificity ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (("m:A", ""), ("m:A m:B", "")),
        (("m:A", ""), ("m:A", "m:B")),
        (("m:A", ""), ("m:B", "m:A")),
        (("m:A m:B", ""), ("m:C", "m:A m:B")),
        (("m:A", "m:C"), ("m:A m:B", "")),
        (("~m:A", ""), ("m:A m:B", "")),
        (("m:A", ""), ("~m:A ~m:B", "")),
        (("m:A", ""), ("m:B", "~m:A")),
        (("m:A", ""), ("~m:A", "")),
        (("m:A m:B", ""), ("m:A ~m:B", "")),
        (("m:A ~m:B", ""), ("~m:A ~m:B", "")),
        (("m:A", "m:C"), ("~m:A", "m:D")),
        (("m:A", ""), ("m:A ~m:A", "")),
        (("~m:A", "m:B"), ("~m:A ~m:B", "m:C")),
        (("@m:A", ""), ("@m:A m:B", "")),
        (("@m:B", ""), ("m:B m:C", "")),
        (("m:A", "m:C"), ("~m:A", "m:B")),
    ],
    ids=[
        "fewer primary types",
        "the other has a secondary type more",
        "the other's secondary type",
        "two of the other's secondary types",
        "own secondary types do not count",
        "the prefix is left aside",
        "the prefix is left aside in the other",
        "the prefix is left aside in a secondary type",
        "exact before subclass",
        "one of two more narrowly",
        "one of two more narrowly, the other alike",
        "more narrowly, with different secondary types",
        "named twice, the wider name counts",
        "with secondary types of its own",
        "abstract ones too",
        "an abstract one before a concrete one",
        "opposite subsets decide nothing, then the prefixes do",
    ],
)
def test_the_more_specific_backend_goes_first(
    narrow: tuple[str, str], wide: tuple[str, str]
) -> None:
    """P4: against the base order."""
    assert names(backend("a", *wide), backend("z", *narrow)) == "z a"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("m:A", ""), ("m:A", "")),
        (("m:A m:B", ""), ("m:B m:A", "")),
        (("m:A", ""), ("m:B", "")),
        (("m:A m:B", ""), ("m:B m:C", "")),
        (("m:A", "m:B"), ("m:A", "m:C")),
        (("m:A", "m:B"), ("m:B", "m:A")),
        (("m:A ~m:B", ""), ("~m:A m:B", "")),
        (("m:A", "m:B m:C"), ("m:B", "m:A")),
        (("m:A", "m:B"), ("~m:C", "")),
    ],
    ids=[
        "the same",
        "the same in another order",
        "nothing in common",
        "each has one of its own",
        "equal and opposite: each has another secondary type",
        "equal and opposite: crosswise",
        "each is narrower in one",
        "equal and opposite: crosswise with more",
        "nothing in common, with a secondary type",
    ],
)
def test_equally_specific_backends_keep_the_base_order(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    """P4, P5: equal opposite edges cancel."""
    assert names(backend("a", *first), backend("b", *second)) == "a b"
    assert names(backend("a", *second), backend("b", *first)) == "a b"


def test_specificity_on_a_cycle_cancels_out() -> None:
    """P5: three that are each more specific than the next keep the base order."""
    cycle = [
        backend("c", "m:A", "m:C"),
        backend("b", "m:B", "m:A"),
        backend("a", "m:C", "m:B"),
    ]
    assert names(*cycle) == "a b c"
    # What leads into the cycle and out of it still counts.
    others = backend("d", "m:C m:D"), backend("e", "m:D"), backend("z", "m:E", "m:D")
    assert names(*cycle, *others) == "a b c e d z"


@pytest.mark.parametrize(
    ("backends", "expected"),
    [
        ([backend("narrow", "m:A"), backend("wide", "m:A m:B", higher="narrow")], "wide narrow"),
        (
            [
                backend("a", "m:A m:B m:C"),
                backend("b", "m:A m:B"),
                backend("c", "m:A", lower="a"),
            ],
            "a b c",
        ),
        (
            [
                backend("narrow1", "m:A"),
                backend("narrow2", "m:A"),
                backend("wide1", "m:A m:B", higher="narrow1"),
                backend("wide2", "m:A m:B"),
            ],
            "narrow2 wide1 narrow1 wide2",
        ),
        (
            [
                backend("a", "m:A m:B", higher="c"),
                backend("b", "m:A m:B m:C", higher="a"),
                backend("c", "m:A"),
            ],
            "b a c",
        ),
    ],
    ids=["one", "a chain of types", "others of the same types stay", "in a chain"],
)
def test_declarations_override_types(backends: list[Fields], expected: str) -> None:
    """P5: a stronger edge overrides weaker opposite ones."""
    assert names(*backends) == expected


# --- cycles --------------------------------------------------------------------------


def assert_resolved(backends: Sequence[Fields], found: Order) -> None:
    """Each value that a cycle shows resolves that cycle; the path has declared steps."""
    declared = set()
    for each in backends:
        declared |= {(each["name"], other) for other in each["higher_priority_than"]}
        declared |= {(other, each["name"]) for other in each["lower_priority_than"]}
    left = len(found.cycles)
    assert left
    while found.cycles:
        cycle = found.cycles[0]
        assert cycle.path[0] == cycle.path[-1]
        assert len(set(cycle.path)) == len(cycle.path) - 1
        assert set(itertools.pairwise(cycle.path)) <= declared
        found = order(*backends, set_order=cycle.set_order)
        assert len(found.cycles) < left
        left = len(found.cycles)


@pytest.mark.parametrize(
    ("backends", "members"),
    [
        (ring("a", "b"), ["a b"]),
        (
            ring(*(f"b{number:02}" for number in range(40))),
            [" ".join(f"b{n:02}" for n in range(40))],
        ),
        ([backend("a", higher="b", lower="c"), backend("b", higher="c"), backend("c")], ["a b c"]),
        ([backend("a", lower="b"), backend("b", lower="a")], ["a b"]),
        (
            [backend("x", higher="default"), backend("y", higher="x", lower="default")],
            ["x y"],
        ),
        (
            [
                backend("a", "m:A", higher="b"),
                backend("b", "m:B", higher="a c"),
                backend("c", "m:C", higher="d"),
                backend("d", "m:D", higher="b"),
            ],
            ["a b c d"],
        ),
        (
            [*ring("a", "b"), *ring("x", "y", "z"), backend("m", higher="a", lower="y")],
            ["a b", "x y z"],
        ),
        ([*ring("m", "n"), backend("a", lower="m"), backend("z", higher="n")], ["m n"]),
    ],
    ids=[
        "two",
        "forty",
        "declared from both sides",
        "each goes after the other",
        "through the default",
        "overlapping ones are one",
        "two separate ones",
        "others lead into it and out of it",
    ],
)
def test_a_cycle_is_reported_with_a_value_that_resolves_it(
    backends: list[Fields], members: list[str]
) -> None:
    """P6: the library works, and no backend is missing from the order of all."""
    found = order(*backends)
    assert sorted(found.names) == sorted(["default", *(each["name"] for each in backends)])
    assert [" ".join(cycle.members) for cycle in found.cycles] == members
    assert_resolved(backends, found)


def test_a_cycle_that_the_environment_resolves_is_not_reported() -> None:
    """P5, P6: whichever way the value goes."""
    assert names(*ring("a", "b", "c"), set_order="a>c") == "a b c"
    found = order(*ring("a", "b", "c"), set_order="c>a")
    assert found.cycles == ()
    assert found.names.index("c") < found.names.index("a")


def test_backends_on_a_cycle_are_skipped_in_the_calls_that_they_would_take() -> None:
    """P6: with the warning; the user's own order needs no declared edge."""

    def described(name: str, **fields: Any) -> dict[str, Any]:
        function = f"{__name__}:answers.{name}"
        return {
            "name": name,
            "primary_types": [f"{__name__}:Mine"],
            "functions": {"lib:f": {"function": function}},
            **fields,
        }

    system = BackendSystem(
        None,
        "TESTORDER",
        backends=[
            described("a", higher_priority_than=["b"]),
            described("b", higher_priority_than=["a"]),
            described("c"),
        ],
    )

    @system.dispatchable("x", module="lib", qualname="f")
    def f(x: Any) -> str:
        return "default"

    with pytest.warns(BackendSkippedWarning, match="TESTORDER_SET_ORDER"):
        assert f(Mine()) == "c"
    with system.backend_opts(prioritize="b"):
        assert f(Mine()) == "b"


class Mine:
    """A type of the backends."""


class answers:  # noqa: N801 - a namespace
    """Implementations that say whose they are."""

    a = staticmethod(lambda x: "a")
    b = staticmethod(lambda x: "b")
    c = staticmethod(lambda x: "c")


# --- nearness ------------------------------------------------------------------------


class Base:
    """A class that a backend knows with its subclasses."""


class Sub(Base):
    """A class that another backend names itself."""


BASE, SUB, OTHER = (f"{__name__}:{cls}" for cls in ("Base", "Sub", "Mine"))


@pytest.mark.parametrize(
    ("a", "b", "set_order", "expected"),
    [
        ({"primary": f"~{BASE}"}, {"primary": SUB}, "", "b"),
        ({"primary": f"~{BASE}"}, {"primary": f"{SUB} ~{BASE}"}, "", "b"),
        ({"primary": f"~{BASE}", "higher": "b"}, {"primary": SUB}, "", "a"),
        ({"primary": f"~{BASE}"}, {"primary": SUB, "lower": "a"}, "", "a"),
        ({"primary": f"~{BASE}"}, {"primary": SUB}, "a>b", "a"),
        ({"primary": f"~{BASE}"}, {"primary": SUB, "higher": "a"}, "a>x>b", "a"),
        ({"primary": f"~{BASE} {OTHER}"}, {"primary": f"{SUB} {OTHER}"}, "", "b"),
    ],
    ids=[
        "the nearer one goes first",
        "against type specificity",
        "higher_priority_than overrides it",
        "lower_priority_than overrides it",
        "the environment overrides it",
        "the environment, against both",
        "beside a type that is equally near",
    ],
)
def test_nearness_on_the_mro_decides_in_a_call(
    a: dict[str, Any],
    b: dict[str, Any],
    set_order: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """P4, P5: it is stronger than type specificity and weaker than explicit edges."""
    if set_order:
        monkeypatch.setenv("TESTORDER_SET_ORDER", set_order)
    backends = []
    for name, given in (("a", a), ("b", b)):
        fields = backend(name, **given)
        del fields["in_code"]
        functions = {"lib:f": {"function": f"{__name__}:answers.{name}"}}
        backends.append({**fields, "functions": functions})
    system = BackendSystem(None, "TESTORDER", backends=backends)

    @system.dispatchable(("x", "y"), module="lib", qualname="f")
    def f(x: Any, y: Any = None) -> str:
        return "default"

    assert f(Sub()) == expected
