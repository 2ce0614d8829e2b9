"""The signatures of a dispatchable function in a stub."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.examination.stub_functions import StubFunction
from spatch_core.examination.stub_names import StubNames


class Exact:
    name = "exact"
    primary_types = ("fractions:Fraction",)
    functions = {"lib:f": {"function": "absent:f"}}  # noqa: RUF012 -- as backends write it


def declared(function: Any, dispatch_args: Any) -> list[str]:
    """Return the signatures without their decorators."""
    system = BackendSystem(None, "STUBBED", default_primary_types=["lib:Array"], backends=[Exact])
    system.dispatchable(dispatch_args, module="lib", qualname="f")(function)
    stub = StubFunction(function, StubNames(), {"lib:Array"})
    lines = stub.dispatched("f", system, "lib:f", "Base")
    return [each.strip() for each in lines if "def " in each and "Fraction" in each]


FRACTION = "_fractions.Fraction"


def keyword_only(n, *, x=None): ...  # type: ignore[no-untyped-def]
def optional(x=None, y=None): ...  # type: ignore[no-untyped-def]
def called_self(self, x): ...  # type: ignore[no-untyped-def]
def by_position(x, /, *rest, **more): ...  # type: ignore[no-untyped-def]


@pytest.mark.parametrize(
    ("function", "dispatch_args", "inside"),
    [
        (keyword_only, "x", f"self, n: _Any, *, x: {FRACTION}"),
        (optional, ("x", "y"), f"self, x: {FRACTION}, y: {FRACTION} | _Plain | None = ..."),
        (called_self, "x", f"_self, self: _Any, x: {FRACTION}"),
        (by_position, "x", f"self, x: {FRACTION}, /, *rest: _Any, **more: _Any"),
    ],
)
def test_parameters_keep_their_kinds(function: Any, dispatch_args: Any, inside: str) -> None:
    assert declared(function, dispatch_args) == [f"def __call__({inside}) -> _Any: ..."]


def test_a_function_that_finds_its_arguments_has_its_own_signature_alone() -> None:
    assert declared(optional, lambda x=None, y=None: [x]) == []


@pytest.mark.parametrize(
    ("entries", "result"),
    [
        ("out : Array", FRACTION),
        ("Array", FRACTION),
        ("`lib.Array`", FRACTION),
        ("out : Array or int", "_Any"),
        ("a : Array\n    One.\nb : Array\n    Two.", "_Any"),
    ],
)
def test_a_docstring_tells_what_is_returned(entries: str, result: str) -> None:
    """Without an annotation, it must name one object of a type of the library."""

    def function(x): ...  # type: ignore[no-untyped-def]

    function.__doc__ = f"Do.\n\nReturns\n-------\n{entries}\n\nNotes\n-----\nArray"
    assert declared(function, "x") == [f"def __call__(self, x: {FRACTION}) -> {result}: ..."]
