"""Explanations for functions and types that are named, and mistakes in naming them."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem, UnknownFunctionError


def first(x: Any) -> str:
    return "first"


def library_with_f() -> BackendSystem:
    system = BackendSystem(None, "ASKEDLIB", ["builtins:float"])
    system.dispatchable("x", module="lib", qualname="blur")(first)
    return system


def test_a_function_that_the_library_does_not_have_is_refused_with_the_nearest() -> None:
    """F7: `explain_types` takes the identifier of a function of the library."""
    system = library_with_f()
    with pytest.raises(KeyError, match=r"did you mean 'lib:blur'\?") as caught:
        system.explain_types("lib:Blr", [float])
    assert isinstance(caught.value, UnknownFunctionError)
    assert caught.value.nearest == ("lib:blur",)
    with pytest.raises(UnknownFunctionError, match=r"system\.functions has them"):
        system.explain_types("qqqqq", [float])


@pytest.mark.parametrize(
    "types", [["numpy:ndarray"], "numpy:ndarray", float, 3, [float, 1.0]], ids=repr
)
def test_types_that_are_not_several_classes_are_refused(types: Any) -> None:
    """F7: strings are not looked up, and objects not taken for their classes."""
    with pytest.raises(TypeError, match=r"takes the classes of the dispatch arguments in a list"):
        library_with_f().explain_types("lib:blur", types)


def test_classes_may_come_from_any_iterable() -> None:
    """F7: a generator, too."""
    explanation = library_with_f().explain_types("lib:blur", (cls for cls in (float, float)))
    assert explanation.types == (float,)
    assert explanation.selected == "default"
