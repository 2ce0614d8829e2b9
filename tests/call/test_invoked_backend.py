"""The chain of the one backend that `invoke` was told."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendDeferredError, BackendSystem

HERE = __name__


class Foreign:
    """The backend's type."""


def goes_on(context: Any, x: Any) -> Any:
    return context.call_next(x)


def test_a_demanded_backend_cannot_go_on() -> None:
    """C6, F9: there is no other candidate."""
    entry = {"function": f"{HERE}:goes_on", "uses_context": True}
    backend = {
        "name": "gpu",
        "primary_types": [f"{HERE}:Foreign"],
        "functions": {"lib:f": entry},
    }
    system = BackendSystem(None, "DEMANDLIB", backends=[backend])
    f = system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")
    assert f(Foreign()) == "default"
    with pytest.raises(BackendDeferredError, match="names no other backend"):
        f.invoke(backend="gpu")(Foreign())
