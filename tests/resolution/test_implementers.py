"""Which backends implement a function of the library."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem

HERE = __name__


class Own:
    """The library's type."""


def implementation(*args: Any) -> str:
    return "backend"


def describe(name: str, *functions: str, **fields: Any) -> dict[str, Any]:
    named = {each: {"function": f"{HERE}:implementation"} for each in functions}
    return {"name": name, "primary_types": [f"{HERE}:Own"], "functions": named, **fields}


def make(*backends: dict[str, Any]) -> tuple[Any, Any]:
    """Return a function with these backends, and the resolver of its library."""
    system = BackendSystem(None, "LIB", [f"{HERE}:Own"], backends=backends)
    function = system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")
    return function, system._dispatcher.ensure_loaded().resolver


def test_implementers_have_the_order_of_backends() -> None:
    """F7: the default among them, also where no other backend implements a function."""
    f, resolver = make(describe("first", "lib:f"), describe("second"), describe("third", "lib:f"))
    assert f.backends == ("default", "first", "third")
    assert resolver.implementers("lib:nobody") == ("default",)
    assert resolver.docs("lib:nobody") == ""


def test_a_backend_may_implement_every_function() -> None:
    """In its place among those that name the function."""
    f, resolver = make(
        describe("first", "lib:f"), describe("every", "*"), describe("third", "lib:f")
    )
    assert f.backends == ("default", "first", "every", "third")
    assert resolver.implementers("lib:g") == ["default", "every"]


def test_a_backend_goes_before_the_default_if_its_priority_is_higher() -> None:
    """The default stands in its own place."""
    f, _ = make(
        describe("first", "lib:f", higher_priority_than=["default"]), describe("second", "lib:f")
    )
    assert f.backends == ("first", "default", "second")


def test_a_backend_with_an_unmet_requirement_implements_nothing() -> None:
    """D15: it is inactive, whatever it names."""
    f, resolver = make(
        describe("first", "lib:f", requires=["no-such-distribution"]),
        describe("every", "*", requires=["no-such-distribution"]),
    )
    assert f.backends == ("default",)
    assert resolver.implementers("lib:f") == ("default",)
