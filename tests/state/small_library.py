"""A library with one function and three backends, of which `third` requires opt-in."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem


class Own:
    """The library's type."""


class Foreign:
    """The backends' type."""


class Converted:
    """A secondary type of the backends."""


class Unknown:
    """A type that no backend knows."""


def first(x: Any = None) -> str:
    return "first"


def second(x: Any = None) -> str:
    return "second"


def third(x: Any = None) -> str:
    return "third"


class Library:
    """A library of its own for a test."""

    def __init__(self, pattern: str = f"{__name__}:Foreign") -> None:
        self.system = BackendSystem(
            None,
            "MYLIB",
            [f"{__name__}:Own"],
            backends=[
                {
                    "name": name,
                    "primary_types": [pattern],
                    "secondary_types": [f"{__name__}:Converted", f"{__name__}:Own"],
                    "requires_opt_in": name == "third",
                    "functions": {"lib:f": {"function": f"{__name__}:{name}"}},
                }
                for name in ("first", "second", "third")
            ],
        )
        self.options = self.system.backend_opts

        @self.system.dispatchable("x", module="lib", qualname="f")
        def f(x: Any = None) -> str:
            return "default"

        self.f = f

    def ran(self) -> str:
        """Return which implementation runs here and now."""
        return self.f(Foreign())
