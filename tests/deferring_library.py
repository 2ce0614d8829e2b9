"""A library whose first backend may decline a call before or after it runs, for several tests."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem


class Own:
    """The library's type."""


class Foreign:
    """The backends' type."""


def first(x: Any, n: int = 0) -> Any:
    return NotImplemented if n == 1 else "first"


def second(x: Any, n: int = 0) -> Any:
    return f(Own()) if n == 2 else "second"


def wants_two(context: Any, x: Any, n: int = 0) -> Any:
    return n < 2 or "n is too large"


BACKENDS = [
    {
        "name": "first",
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {
            "lib:f": {"function": f"{__name__}:first", "should_run": f"{__name__}:wants_two"}
        },
    },
    {
        "name": "second",
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {"lib:f": {"function": f"{__name__}:second"}},
    },
]
system = BackendSystem(None, "DEFERLIB", [f"{__name__}:Own"], BACKENDS)


@system.dispatchable("x", module="lib", qualname="f")
def f(x: Any, n: int = 0) -> Any:
    return "default"
