"""A library of one function, and backends for it, in a few words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spatch_core import BackendSystem

HERE = __name__


class Own:
    """The library's type."""


class Foreign:
    """The type of backends."""


class Other:
    """A type of which nothing is known, unless a test says so."""


def pattern(text: str) -> str:
    """Return a type pattern; a name alone is a class of this module, as in ``~Foreign``."""
    name = text.lstrip("~@")
    return text if ":" in text else f"{text.removesuffix(name)}{HERE}:{name}"


def answering(answer: Any) -> Callable[..., Any]:
    """Return an implementation, or a `should_run`, that always returns the same."""
    return lambda *args, **kwargs: answer


def declines(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


def describe(
    name: str, function: Any = None, types: str = "Foreign", also: str = "", **fields: Any
) -> dict[str, Any]:
    """Describe a backend that implements ``lib:f``, by default with its name as the answer.

    `types` and `also` are its primary and its secondary types, separated by spaces. What a table
    of a function takes goes there, all else is a field of the backend.
    """
    entry = {"function": answering(name) if function is None else function}
    entry |= {key: fields.pop(key) for key in ("should_run", "uses_context") if key in fields}
    return {
        "name": name,
        "primary_types": [*map(pattern, types.split())],
        "secondary_types": [*map(pattern, also.split())],
        "functions": {"lib:f": entry},
        **fields,
    }


def make(
    *backends: dict[str, Any],
    default: Any = None,
    dispatch_args: Any = "x",
    traits: dict[str, Any] | None = None,
    group: str | None = None,
    types: str = "Own",
    **options: Any,
) -> tuple[BackendSystem, Any]:
    """Make a library with backends of its own; return its system and its function ``lib:f``."""
    system = BackendSystem(group, "MYLIB", [*map(pattern, types.split())], backends, **options)

    def f(x: Any = None, *args: Any, **kwargs: Any) -> Any:
        return "default"

    decorate = system.dispatchable(dispatch_args, module="lib", qualname="f", **(traits or {}))
    return system, decorate(default or f)
