"""What a table holds for overriding types."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem

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
    """K4: one that is added to a class counts from `refresh` on, at the latest."""
    system = make_system()
    function: Any = system.dispatchable("x", identifier="lib:f")(lambda x: "default")
    plain: Any = type("Plain", (), {})
    over: Any = type("Sub", (Over,), {})
    assert (function(plain()), function(over())) == ("default", "answer")
    for cls in (plain, over):
        setattr(cls, METHOD, classmethod(lambda cls, *call: "other"))
    system.refresh()
    assert (function(plain()), function(over())) == ("other", "other")
