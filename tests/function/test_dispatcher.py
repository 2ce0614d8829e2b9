"""The dispatcher of a library: its functions, and the first of their calls."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from spatch_core import BackendSystem


class Own:
    """The library's type."""


class Foreign:
    """The backends' type."""


def first(*args: Any, **kwargs: Any) -> str:
    return "first"


FIRST = {
    "name": "first",
    "primary_types": [f"~{__name__}:Foreign"],
    "functions": {"lib:f": {"function": f"{__name__}:first"}},
}


def make(backend: Any = FIRST) -> Any:
    """Make a library; returns its system and its function."""
    system = BackendSystem(None, "MYLIB", [f"{__name__}:Own"], [backend])
    return system, system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")


class Counted:
    """A description in code that counts how often it is read."""

    primary_types = (f"{__name__}:Foreign",)

    def __init__(self, function: Any = None) -> None:
        self.reads: list[int] = []
        self.function = function

    @property
    def name(self) -> str:
        return "first"

    @property
    def functions(self) -> Any:
        self.reads.append(threading.get_ident())
        if self.function is not None:
            self.function()
        return {"lib:f": {"function": f"{__name__}:first"}}


@pytest.mark.usefixtures("switching")
def test_first_calls_of_many_threads_load_once() -> None:
    """E5: two threads make the first call at once; backends load once."""
    description = Counted()
    _, f = make(description)
    barrier = threading.Barrier(4, timeout=60)

    def call() -> Any:
        barrier.wait()
        return f(Foreign())

    with ThreadPoolExecutor(4) as pool:
        results = [future.result() for future in [pool.submit(call) for _ in range(4)]]
    assert results == ["first"] * 4
    assert len(set(description.reads)) == 1
