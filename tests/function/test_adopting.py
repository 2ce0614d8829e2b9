"""Functions that the library does not own get identities, and stay as they are."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.exceptions import IdentifierError

from .conftest import HERE, describe, make_system


def foreign_function(*args: Any, **kwargs: Any) -> Any:
    """Stand for a function of another library."""
    raise AssertionError("the function itself never runs")


def adopting() -> BackendSystem:
    """Make a system that has adopted a function."""
    system = BackendSystem(None, "MYLIB", [f"{HERE}:Own"], [describe()])
    system.adopt(foreign_function, "lib:f")
    return system


def test_nothing_is_done_to_the_function() -> None:
    """T1: it is the same function, and no dispatchable of the library."""
    before = dict(vars(foreign_function)), foreign_function.__code__
    system = adopting()
    assert (dict(vars(foreign_function)), foreign_function.__code__) == before
    assert dict(system.functions) == {}


def test_a_function_has_one_identity_and_an_identity_one_function() -> None:
    """T1: adopting it again as the same changes nothing."""
    system = adopting()
    system.adopt(foreign_function, "lib:f")
    with pytest.raises(ValueError, match="was adopted as 'lib:f' before"):
        system.adopt(foreign_function, "lib:g")
    with pytest.raises(ValueError, match="'lib:f' is the identity of another function"):
        system.adopt(len, "lib:f")

    @system.dispatchable("x", identifier="lib:own")
    def own(x: Any) -> Any:
        return x

    with pytest.raises(ValueError, match="'lib:own' is the identity of another function"):
        system.adopt(len, "lib:own")


def test_mistakes_of_adopting_are_named() -> None:
    """T1: an identity that is none, and what is no function."""
    system = make_system()
    with pytest.raises(IdentifierError, match="module:qualname"):
        system.adopt(len, "mean")
    with pytest.raises(TypeError, match="takes a function, not 3"):
        system.adopt(3, "lib:f")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unhashable"):
        system.adopt(type("F", (), {"__call__": len, "__hash__": None})(), "lib:f")
