"""A library whose functions a backend implements for its own type, and a description of it."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem

HERE = "tests.function.conftest"


class Own:
    """The library's type."""


class Foreign:
    """The backends' type."""

    def __init__(self, value: int = 0) -> None:
        self.value = value


def record(*args: Any, **kwargs: Any) -> Any:
    """Return the arguments."""
    return "first", args, kwargs


def describe(name: str = "first", functions: Any = ("lib:f",), **fields: Any) -> Any:
    """Describe a backend for `Foreign`."""
    entry = {"function": f"{HERE}:record", **fields.pop("entry", {})}
    return {
        "name": name,
        "primary_types": [f"{HERE}:Foreign"],
        "functions": dict.fromkeys(functions, entry),
        **fields,
    }


def make_system(*backends: Any) -> BackendSystem:
    """Make a library with these backends, or with one."""
    return BackendSystem(None, "MYLIB", [f"{HERE}:Own"], backends or [describe()])
