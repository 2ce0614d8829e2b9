"""What a table holds for overriding types."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.protocols import library_functions

HERE = __name__
METHOD = "__lib_function__"


class Over:
    """Overrides, with an answer that is exchanged."""

    answer: Any = "answer"

    @classmethod
    def __lib_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return cls.answer


def make_system(**options: Any) -> Any:
    return BackendSystem(None, "OVER", [f"{HERE}:Own"], protocol=METHOD, **options)


def test_the_method_is_looked_up_in_each_call() -> None:
    """K3: one that is added to a class counts from `refresh` on, at the latest."""
    system = make_system()
    function: Any = system.dispatchable("x", identifier="lib:f")(lambda x: "default")
    plain: Any = type("Plain", (), {})
    over: Any = type("Sub", (Over,), {})
    assert (function(plain()), function(over())) == ("default", "answer")
    for cls in (plain, over):
        setattr(cls, METHOD, classmethod(lambda cls, *call: "other"))
    system.refresh()
    assert (function(plain()), function(over())) == ("other", "other")


def test_the_method_is_called_once_if_it_imports_what_a_pattern_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """K3, C8: the rest of the call is decided anew, without the methods."""
    late = {
        "name": "late",
        "primary_types": ["~over_late:Array"],
        "functions": {"lib:f": {"function": "over_late:f"}},
    }
    system = make_system(backends=[late])
    function: Any = system.dispatchable("x", identifier="lib:f")(lambda x: "default")
    calls = []
    imports: list[str] = []

    class Own(library_functions(system)):  # type: ignore[misc]  # a class that is made
        pass

    class Array(Own):
        @classmethod
        def __lib_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            calls.append(cls)
            for name in imports:
                monkeypatch.setitem(sys.modules, name, ModuleType(name))
            return super().__lib_function__(func, types, args, kwargs)

    assert function(Array()) == "default"
    imports.append("over_late")
    assert function(Array()) == "default"
    assert len(calls) == 2
