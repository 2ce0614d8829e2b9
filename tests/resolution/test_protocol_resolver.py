"""Where overriding types stand among the candidates of a call."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem
from spatch_core._identifiers import DEFAULT

HERE = __name__
METHOD = "__lib_function__"


class Own:
    """The library's type."""


class Over:
    """Overrides."""

    @classmethod
    def __lib_function__(cls, *call: Any) -> Any:
        return NotImplemented


class Sub(Own, Over):
    """Both."""


def describe(name: str, **fields: Any) -> dict[str, Any]:
    functions = {"lib:f": {"function": lambda x: name}}
    return {"name": name, "primary_types": [f"~{HERE}:Over"], "functions": functions, **fields}


def make_system(*backends: Any, **options: Any) -> tuple[Any, Any]:
    system = BackendSystem(None, "OVER", [f"~{HERE}:Own"], backends, protocol=METHOD, **options)
    return system, system.dispatchable("x", identifier="lib:f")(lambda x: "default")


def lines(explanation: Any) -> list[tuple[str, str]]:
    return [(each.backend, str(each.verdict)) for each in explanation.backends]


def test_they_stand_after_the_prioritized_backends() -> None:
    """K8: and before all others."""
    system, function = make_system(describe("a"), describe("b"))
    with system.backend_opts(prioritize="b"):
        assert lines(function.explain(Over())) == [
            ("b", "runs"),
            (METHOD, "comes later"),
            ("a", "comes later"),
            (DEFAULT, "comes later"),
        ]
    assert [name for name, _ in lines(function.explain(Over()))] == [METHOD, "a", "b", DEFAULT]
    assert [name for name, _ in lines(function.explain(3))] == ["a", "b", DEFAULT]


def test_what_they_decline_is_refused_though_the_default_matches() -> None:
    """K9: and a conversion goes before the refusal."""
    system, function = make_system()
    walk = function.explain.__self__.dispatcher.ensure_loaded().resolver.walk
    record, state = function.explain.__self__, system._dispatcher.keeper.current()
    found = walk(record.function, state, (Sub,))
    assert (found.default_matches, found.declining, found.foreign) == (True, (Sub,), (Sub,))
    assert walk(record.function, state, (Own,)).declining == ()
    converting = {
        **describe("c", functions={}),
        "to_default": lambda x: Own(),
        "from_default": lambda x: x,
    }
    system, function = make_system(converting, fallback="convert")
    assert function(Over()) == "default"
    with system.backend_opts(trace=True) as trace:
        function(Over())
    assert [(each.backend, str(each.outcome)) for each in trace] == [
        (METHOD, "called"),
        (METHOD, "deferred"),
        ("c", "converted"),
        (DEFAULT, "called"),
    ]


def test_adopted_functions_are_not_the_librarys() -> None:
    """K7: they have protocols of their own."""
    backend = describe("a", functions={"lib:len": {"function": lambda x: "a"}})
    system = BackendSystem(None, "OVER", [], [backend], protocol=METHOD)
    system.adopt(len, "lib:len")
    found: Any = system.lookup("lib:len", (Over,))
    assert found(Over()) == "a"
