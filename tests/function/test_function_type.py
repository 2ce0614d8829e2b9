"""The type of decorated functions exists when annotations are evaluated, and not before."""

from __future__ import annotations

import typing
from typing import Any

from spatch_core import BackendSystem
from spatch_core.types import DispatchableFunction


def test_annotations_can_be_evaluated() -> None:
    """By documentation tools, and by checks at run time."""

    def run(function: DispatchableFunction[[int], str]) -> DispatchableFunction[..., Any]:
        return function

    hints = typing.get_type_hints(run)
    assert typing.get_origin(hints["function"]) is DispatchableFunction
    assert typing.get_origin(hints["return"]) is DispatchableFunction


def test_a_decorated_function_has_every_attribute() -> None:
    """What a type checker accepts works."""
    system = BackendSystem(None, "MYLIB")
    function: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: x)
    names = {"__name__", "__qualname__", "__module__", "__wrapped__"}
    names |= {"__call__", "__get__", "backends", "explain", "invoke"}
    assert names <= set(dir(function))
    assert names <= {*DispatchableFunction.__annotations__, *vars(DispatchableFunction)}
