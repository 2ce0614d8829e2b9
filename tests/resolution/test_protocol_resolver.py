"""Where overriding types stand among the candidates of a call."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem

HERE = __name__
METHOD = "__lib_function__"


class Own:
    """The library's type."""


class Over:
    """Overrides."""

    @classmethod
    def __lib_function__(cls, *call: Any) -> Any:
        return NotImplemented


def describe(name: str, **fields: Any) -> dict[str, Any]:
    functions = {"lib:f": {"function": lambda x: name}}
    return {"name": name, "primary_types": [f"~{HERE}:Over"], "functions": functions, **fields}


def make_system(*backends: Any, **options: Any) -> tuple[Any, Any]:
    system = BackendSystem(None, "OVER", [f"~{HERE}:Own"], backends, protocol=METHOD, **options)
    return system, system.dispatchable("x", identifier="lib:f")(lambda x: "default")


def test_functions_without_backends_are_not_their_defaults() -> None:
    """K7: types may override them; without a protocol their code is exchanged."""
    _, function = make_system()
    plain: Any = BackendSystem(None, "PLAIN").dispatchable("x", identifier="lib:f")(lambda x: x)
    for each, is_default in ((function, False), (plain, True)):
        each(3)
        assert (each.__code__ is each.__wrapped__.__code__) is is_default


def test_adopted_functions_are_not_the_librarys() -> None:
    """K7: they have protocols of their own."""
    backend = describe("a", functions={"lib:len": {"function": lambda x: "a"}})
    system = BackendSystem(None, "OVER", [], [backend], protocol=METHOD)
    system.adopt(len, "lib:len")
    found: Any = system.lookup("lib:len", (Over,))
    assert found(Over()) == "a"
