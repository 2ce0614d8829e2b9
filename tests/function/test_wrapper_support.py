"""The C extension where wrappers need it, or what takes its place."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from spatch_core import BackendSystem


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
