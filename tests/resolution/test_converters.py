"""Backends that convert, as candidates."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem

HERE = __name__


class Own:
    """The library's type."""


class Foreign:
    """A type of backends."""


def convert(value: Any) -> Any:
    return value


PAIR = {"to_default": convert, "from_default": convert}


def make(*backends: dict[str, Any], **options: Any) -> Any:
    system = BackendSystem(None, "CONVERTERS", [f"{HERE}:Own"], backends, fallback="convert")
    system.dispatchable(("x", "y"), module="lib", qualname="f")(lambda x, y=None: None)
    resolver = system._dispatcher.ensure_loaded().resolver
    function = system._dispatcher.records[0].function
    state = system.backend_opts(**options)._own
    walk = resolver.walk(function, state, (Foreign,))
    return resolver.converters, (function, state, walk)


def describe(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "primary_types": [f"{HERE}:Foreign"], **fields}


def test_backends_with_both_conversions_are_candidates_in_order() -> None:
    """V9: in the order of other candidates."""
    backends = (
        describe("b", **PAIR),
        describe("none"),
        describe("a", **PAIR, higher_priority_than=["b"]),
        describe("shy", **PAIR, requires_opt_in=True),
        {"name": "other", "primary_types": ["decimal:Decimal"], **PAIR},
    )
    converters, call = make(*backends)
    assert [each.backend for each in converters.candidates(*call)] == ["a", "b"]
    judged = {name: reason for name, _, reason in converters.judged(*call)}
    assert [*judged] == ["a", "b", "shy", "other"]
    assert judged["shy"].startswith("it requires opt-in")
    assert judged["other"] == f"it does not know {HERE}:Foreign"
    converters, call = make(*backends, prioritize="shy")
    assert [each.backend for each in converters.candidates(*call)] == ["shy", "a", "b"]


def test_a_secondary_type_is_not_converted() -> None:
    """V9: so it is no candidate, and says so."""
    backend = {
        "name": "a",
        "primary_types": [f"{HERE}:Own"],
        "secondary_types": [f"{HERE}:Foreign"],
        **PAIR,
    }
    converters, call = make(backend)
    assert not [*converters.candidates(*call)]
    ((name, candidate, reason),) = converters.judged(*call)
    assert (name, candidate) == ("a", None)
    assert reason


def test_nothing_is_awaited_without_converters() -> None:
    converters, call = make(describe("a"))
    assert converters.awaited(*call) == ([], False)
