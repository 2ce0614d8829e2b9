"""Where overriding types stand among the candidates of a call."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem

HERE = __name__
METHOD = "__lib_function__"


class Over:
    """Overrides."""

    @classmethod
    def __lib_function__(cls, *call: Any) -> Any:
        return NotImplemented


def describe(name: str, **fields: Any) -> dict[str, Any]:
    functions = {"lib:f": {"function": lambda x: name}}
    return {"name": name, "primary_types": [f"~{HERE}:Over"], "functions": functions, **fields}


def test_adopted_functions_are_not_the_librarys() -> None:
    """K7: they have protocols of their own."""
    backend = describe("a", functions={"lib:len": {"function": lambda x: "a"}})
    system = BackendSystem(None, "OVER", [], [backend], protocol=METHOD)
    system.adopt(len, "lib:len")
    found: Any = system.lookup("lib:len", (Over,))
    assert found(Over()) == "a"
