"""A backend that is a class of a test."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem, DispatchContext
from spatch_core.testing import BackendDummy


class Floats(BackendDummy):
    name = "floats"
    primary_types = ("builtins:float",)
    secondary_types = ("builtins:int",)
    requires_opt_in = False

    @staticmethod
    def double(x: Any) -> Any:
        """Implement `double` for floats."""
        return "floats", 2 * x


def library(*backends: Any) -> tuple[BackendSystem, Any]:
    system = BackendSystem(None, "DUMMYLIB", ["builtins:int"], backends=backends)

    @system.dispatchable(None, module="lib", qualname="dummy_func")
    def dummy_func(*args: Any, **kwargs: Any) -> Any:
        """Say what was given."""
        return "default", args, kwargs

    return system, dummy_func


def test_it_answers_for_functions_of_its_methods_names() -> None:
    """D1: whatever their modules and classes; also for functions that are added later."""
    system, dummy_func = library(Floats())
    assert dummy_func(1) == ("default", (1,), {})
    assert dummy_func(1, y=2.0) == ("floats", (1,), {"y": 2.0})
    for qualname, expected in (("Image.double", ("floats", 3.0)), ("halve", "default")):
        function: Any = system.dispatchable("x", module="other", qualname=qualname)(
            lambda x: "default"
        )
        assert function(1.5) == expected
    assert system.problems == ()


def test_only_what_it_documents_is_shown() -> None:
    """F5: the answer of every dummy needs no words in the docs of the library."""
    system, dummy_func = library(Floats())
    double: Any = system.dispatchable("x", module="lib", qualname="double")(lambda x: "default")
    assert list(system.backends) == ["default", "floats"]
    assert dummy_func.__doc__.endswith(
        "floats\n    Types: builtins:float; converts builtins:int.\n"
    )
    assert "Implement `double` for floats." in double.__doc__


def test_fields_of_the_class_hold_for_all_of_its_functions() -> None:
    """C3, C4: a class in a function, too, which no identifier could lead to."""

    class Careful(BackendDummy):
        name = "careful"
        primary_types = ("builtins:float",)
        uses_context = True

        @staticmethod
        def should_run(context: DispatchContext, *args: Any, **kwargs: Any) -> bool:
            return bool(args[0] > 0)

        @classmethod
        def double(cls, context: DispatchContext, x: Any) -> Any:
            return cls.name, context.name, 2 * x

    system, _ = library(Careful())
    double: Any = system.dispatchable("x", module="lib", qualname="double")(lambda x: "default")
    assert double(1.5) == ("careful", "careful", 3.0)
    assert double(-1.5) == "default"


@pytest.mark.parametrize("name", ["defaults", "lib:name", "lib:get_function", "lib:nothing"])
def test_other_names_are_no_functions(name: str) -> None:
    assert Floats.get_function(name) is None
    assert Floats().functions.get(name, 3) == 3
