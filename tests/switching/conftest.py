"""A library with constructors, and backends that can be switched."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.switching import Switch


class Own:
    """The library's type."""


class Library:
    """Two functions; the library calls itself numpy."""

    def __init__(self) -> None:
        self.system = system = BackendSystem(
            None,
            "SWITCHLIB",
            [f"{__name__}:Own"],
            backends=[self.describe(name) for name in ("jax", "torch", "cupy")],
            default_name="numpy",
        )
        self.options = system.backend_opts
        self.switch = Switch(system)

        @system.dispatchable("data", module="lib", qualname="tensor")
        def tensor(data: Any = None) -> str:
            return "numpy"

        self.tensor = tensor

    @staticmethod
    def describe(name: str) -> dict[str, Any]:
        return {
            "name": name,
            "primary_types": [f"{name}:Array"],
            "requires_opt_in": name == "cupy",
            "functions": {"lib:tensor": {"function": lambda data=None: name}},
        }

    def now(self) -> str:
        """The backend that a constructor uses; the one that the switch tells."""
        found: str = self.tensor([1])
        assert self.switch.get_backend() == found
        return found


@pytest.fixture
def library() -> Library:
    return Library()
