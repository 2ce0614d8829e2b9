"""P2 to P6: examples of the order of all backends, through `BackendSystem.backends`.

`tests/property/test_ordering.py` compares random backends with the rules taken word by word.
"""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from tests.order.backends import Fields, backend, names, order, ring

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
    found = order(*backends, set_order=set_order)
    assert found.cycles == ()
    assert " ".join(found.names).removeprefix("default ") == expected


def test_which_declaration_of_a_chain_gives_way_is_not_promised() -> None:
    """P5: where the environment says the opposite of a chain, or opens a circle."""
    chain = [backend("a", higher="b"), backend("b", higher="c"), backend("c")]
    for backends in (chain, ring("a", "b", "c")):
        found = order(*backends, set_order="c>a")
        assert found.cycles == ()
        assert found.names.index("c") < found.names.index("a")


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


class Mine:
    """A type of the backends."""


class answers:  # noqa: N801 - a namespace
    """Implementations that say whose they are."""

    a = staticmethod(lambda x: "a")
    b = staticmethod(lambda x: "b")


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
