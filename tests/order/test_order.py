"""P2 to P6: examples of the order of all backends, and of those that a call considers.

`tests/property/test_ordering.py` compares random backends with the rules taken word by word.
"""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSkippedWarning
from spatch_core.types import Verdict
from tests.installed import installed
from tests.library import HERE, Foreign, Other, describe, make
from tests.order.backends import Fields, backend, order, ring

ABSTRACT = [
    *(backend("a", "@m:Abstract"), backend("z"), backend("x", "@m:X", in_code=True)),
    *(backend("y", in_code=True), backend("b", "~m:B"), backend("c", "m:C @m:D")),
]
SAME_TYPES = [
    *(backend("narrow1"), backend("narrow2")),
    *(backend("wide1", "m:A m:B", higher="narrow1"), backend("wide2", "m:A m:B")),
]
SEVEN = [*map(backend, "abcdefg")]
# The backends, the value of SET_ORDER, and the order without the default in front.
EXAMPLES: dict[str, tuple[list[Fields], str, str]] = {
    "concrete before abstract, in code before installed": (ABSTRACT, "", "y b z x a c"),
    "down, and no further than it must": (
        [backend("a", lower="c"), *map(backend, "bcd")],
        "",
        "b c a d",
    ),
    "down together": (
        [backend("a", lower="c"), backend("b", lower="c"), *map(backend, "cd")],
        "",
        "c a b d",
    ),
    "up, and no further than it must": (
        [*map(backend, "abc"), backend("d", higher="b")],
        "",
        "a d b c",
    ),
    "before one that goes before the default": (
        [backend("a"), backend("b", higher="default"), backend("c", higher="b")],
        "",
        "c b default a",
    ),
    "unknown names alone": ([backend("a"), backend("b")], "p>q,q>b,a>p", "a b"),
    "two that go before one": (SEVEN, "e>a,e>c,f>a", "e f a b c d g"),
    "a circle that the environment opens": (ring("a", "b", "c"), "a>c", "a b c"),
    "others of the same types stay": (SAME_TYPES, "", "narrow2 wide1 narrow1 wide2"),
}


@pytest.mark.parametrize(("backends", "set_order", "expected"), EXAMPLES.values(), ids=EXAMPLES)
def test_stronger_edges_override_weaker_ones_and_the_base_order(
    backends: list[Fields], set_order: str, expected: str
) -> None:
    """D3, P2, P3, P5: all that no edge moves keep the base order."""
    found = order(backends, set_order)
    assert found.cycles == ()
    assert " ".join(found.names).removeprefix("default ") == expected


def test_which_declaration_of_a_chain_gives_way_is_not_promised() -> None:
    """P5: where the environment says the opposite of a chain, or opens a circle."""
    chain = [backend("a", higher="b"), backend("b", higher="c"), backend("c")]
    for backends in (chain, ring("a", "b", "c")):
        found = order(backends, "c>a")
        assert found.cycles == ()
        assert found.names.index("c") < found.names.index("a")


def test_specificity_on_a_cycle_cancels_out() -> None:
    """P5: three that are each more specific than the next keep the base order."""
    cycle = [
        backend("c", "m:A", "m:C"),
        backend("b", "m:B", "m:A"),
        backend("a", "m:C", "m:B"),
    ]
    assert order(cycle).names == ("default", *"abc")
    # What leads into the cycle and out of it still counts.
    others = [backend("d", "m:C m:D"), backend("e", "m:D"), backend("z", "m:E", "m:D")]
    assert order([*cycle, *others]).names == ("default", *"abcedz")


# --- the order of a call ---------------------------------------------------------------


def test_candidates_on_a_circle_are_skipped_and_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """P6, F7: only in the calls that match them both."""
    system, f = make(describe("own"), group="testorder.backends")
    circle = {
        "a": describe("a", types="Foreign Other", higher_priority_than=["b"]),
        "b": describe("b", higher_priority_than=["a"]),
    }
    with installed("testorder.backends", circle):
        with pytest.warns(BackendSkippedWarning, match="form a cycle"):
            assert f(Foreign()) == "own"
        assert f(Other()) == "a"
        explained = {each.backend: each for each in f.explain(Foreign()).backends}
        assert {explained[name].verdict for name in "ab"} == {Verdict.SKIPPED}
        reason = "form a cycle: a before b before a. Set MYLIB_SET_ORDER='a>b'"
        assert reason in explained["a"].reason
        with system.backend_opts(prioritize="b"):
            assert f(Foreign()) == f.explain(Foreign()).selected == "b"
        monkeypatch.setenv("MYLIB_SET_ORDER", "a>b")
        system.reload()
        assert [each.backend for each in f.explain(Foreign()).backends] == [
            *("own", "a", "b", "default")
        ]


def test_the_librarys_own_on_a_circle_are_skipped() -> None:
    """P6: a mistake of the library is reported like others."""
    _, f = make(
        describe("one", higher_priority_than=["two"]),
        describe("two", higher_priority_than=["one"]),
        describe("three"),
    )
    with pytest.warns(BackendSkippedWarning, match="one before two before one"):
        assert f(Foreign()) == "three"


class Sub(Foreign):
    """A class that a backend names itself, and another one by its base."""


BASE, SUB, OTHER = f"{HERE}:Foreign", f"{__name__}:Sub", f"{HERE}:Other"


@pytest.mark.parametrize(
    ("a", "b", "set_order", "expected"),
    [
        ({"types": f"~{BASE}"}, {"types": SUB}, "", "b"),
        ({"types": f"~{BASE}"}, {"types": f"{SUB} ~{BASE}"}, "", "b"),
        ({"types": f"~{BASE}", "higher_priority_than": ["b"]}, {"types": SUB}, "", "a"),
        ({"types": f"~{BASE}"}, {"types": SUB, "lower_priority_than": ["a"]}, "", "a"),
        ({"types": f"~{BASE}"}, {"types": SUB}, "a>b", "a"),
        ({"types": f"~{BASE}"}, {"types": SUB, "higher_priority_than": ["a"]}, "a>x>b", "a"),
        ({"types": f"~{BASE} {OTHER}"}, {"types": f"{SUB} {OTHER}"}, "", "b"),
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
        monkeypatch.setenv("MYLIB_SET_ORDER", set_order)
    _, f = make(describe("a", **a), describe("b", **b))
    assert f(Sub()) == expected
