"""A function of a library, and backends that implement it."""

from __future__ import annotations

from typing import Any

HERE = "tests.resolution.conftest"


class Own:
    """The library's type."""


class Foreign:
    """A type of some backends."""


def f(x: Any, y: Any = None) -> str:
    return "default"


def implementation(x: Any, y: Any = None) -> str:
    return "backend"


def describe(name: str, primary: type, *, implements: bool = True, **fields: Any) -> dict[str, Any]:
    functions = {"lib:f": {"function": f"{HERE}:implementation"}} if implements else {}
    types = [f"{primary.__module__}:{primary.__qualname__}"]
    return {"name": name, "primary_types": types, "functions": functions, **fields}
