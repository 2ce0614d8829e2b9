"""The C extension where wrappers need it, or what takes its place."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import spatch_core
from spatch_core import BackendSystem
from spatch_core._function import wrapper_support


def test_there_is_an_accelerator_or_nothing_to_do() -> None:
    """A wrapper has data for calls through C where there is the extension."""
    assert spatch_core.accelerated is (wrapper_support.tables_type is not None)
    accelerate: Any = wrapper_support.accelerate
    assert accelerate(len) is None


def test_a_function_keeps_its_library() -> None:
    """Whatever else of it a program has kept; and no longer than itself."""
    system = BackendSystem(None, "KEPTLIB")
    function: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: x)
    alive = weakref.ref(system)
    del system
    gc.collect()
    assert alive() is not None
    assert function(1) == 1
    del function
    gc.collect()
    assert alive() is None
