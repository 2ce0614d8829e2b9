"""A function bound to a backend or to a type."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from spatch_core import BackendSystem, UnknownBackendError
from tests.function.conftest import Foreign, describe

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
