"""A function bound to a backend or to a type."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from spatch_core import BackendDeferredError, BackendSystem, UnknownBackendError
from tests.function.conftest import Foreign, describe, make_system

# Made here, because pickles find a system by the module that makes it.
system = BackendSystem(None, "MYLIB", backends=[describe(functions=[f"{__name__}:blur"])])


@system.dispatchable("x")
def blur(x: Foreign | int, sigma: float = 1.0, *, mode: str = "reflect") -> Any:
    return "default"


def test_it_can_be_printed_and_pickled() -> None:
    """`invoke(…)` can be stored, printed and pickled."""
    invocation = blur.invoke(backend="first", type=Foreign)
    assert "test_invocation:blur" in repr(invocation)
    assert "backend='first'" in repr(invocation)
    assert "Foreign" in repr(invocation)
    again = pickle.loads(pickle.dumps(invocation))
    assert again(3) == ("first", (3,), {})
    forced = pickle.loads(pickle.dumps(blur.invoke(backend="first", force=True)))
    assert repr(forced).endswith("blur invoked with backend='first', force=True>")
    assert forced(3) == ("first", (3,), {})
    assert repr(blur.invoke(backend="x")).endswith("blur invoked with backend='x'>")
    with pytest.raises(UnknownBackendError):
        blur.invoke(backend="frist")(3)


def test_a_backend_runs_whatever_the_types_are() -> None:
    """The default too, which has no entry of its own."""
    x = Foreign()
    assert blur.invoke(backend="first")(3, sigma=2) == ("first", (3,), {"sigma": 2})
    assert blur.invoke(backend="default")(x) == "default"


def test_a_type_counts_as_an_argument() -> None:
    """In this call alone."""
    assert blur.invoke(type=Foreign)(3) == ("first", (3,), {})
    assert blur(3) == "default"


def test_a_backend_or_a_type_must_be_given() -> None:
    """A mistake is found where it is made."""
    with pytest.raises(TypeError, match="backend= or type="):
        blur.invoke()


def test_a_backend_without_an_implementation() -> None:
    """The error names the backends that have one."""
    system = make_system(describe("first"), describe("second", functions=[]))
    function: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")
    with pytest.raises(BackendDeferredError, match="these do: default, first"):
        function.invoke(backend="second")(3)
