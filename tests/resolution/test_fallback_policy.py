"""The ending of a chain, by the fallback policy."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core._dispatch_arguments import Function
from spatch_core._resolution.fallback_policy import Ending, Warned, is_operator, policy_of
from spatch_core._signature.traits import Traits
from spatch_core._state.state import DispatchState


def f(x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    ("block", "function", "library", "policy"),
    [
        (None, None, "default", "default"),
        (None, None, "raise", "raise"),
        (None, "warn", "raise", "warn"),
        ("convert", "warn", "raise", "convert"),
        ("default", None, "raise", "default"),
    ],
)
def test_the_innermost_policy_counts(
    block: str | None, function: str | None, library: str, policy: str
) -> None:
    """V2: block over function over library."""
    traits = Traits(function) if function else None
    state = DispatchState(fallback=block)
    assert policy_of(Function("lib:f", f, "x", traits), state, library) == policy
    composed = Function("lib:f", f, "x", Traits(compositional=True))
    assert policy_of(composed, state, library) is None


def test_methods_are_operators_by_their_names() -> None:
    """V5: also reflected and in-place ones."""
    names = ["__add__", "__radd__", "__iadd__", "__lt__", "__matmul__", "__ixor__"]
    assert all(is_operator(Function(f"lib:Array.{name}", f, "x")) for name in names)
    others = ["add", "__len__", "__getitem__", "__rlt__", "__neg__", "f.__add__.g"]
    assert not any(is_operator(Function(f"lib:Array.{name}", f, "x")) for name in others)


def test_an_ending_refuses_or_warns_by_its_policy() -> None:
    refusing = {each: Ending(each, ()).refuses for each in ("default", "warn", "raise", "convert")}
    assert refusing == {"default": False, "warn": False, "raise": True, "convert": True}
    assert Ending("warn", ()).warns
    assert not Ending("warn", (), is_operator=True).warns


def test_what_was_warned_of_is_bounded() -> None:
    """V6, E6: names alone are kept."""
    warned = Warned()
    assert warned.add("lib:f", ("m:A",))
    assert not warned.add("lib:f", ("m:A",))
    for number in range(3000):
        warned.add("lib:f", (f"m:A{number}",))
    assert len(warned._known) <= 1000
