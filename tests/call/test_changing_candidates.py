"""Calls whose candidates may change are looked at again when they do."""

from __future__ import annotations

import abc
import sys
from types import ModuleType
from typing import Any

import pytest

from spatch_core import BackendSystem

HERE = __name__


class Own:
    """The library's type."""


class Foreign:
    """A type that the library does not know."""


class Shape(abc.ABC):  # noqa: B024  # classes are registered with it
    """An abstract type of a backend."""


def f(x: Any) -> str:
    return "default"


def implementation(x: Any) -> str:
    return "backend"


def defers(x: Any) -> Any:
    return NotImplemented


def make(pattern: str, function: Any = implementation, calls: Any = None) -> Any:
    backend = {
        "name": "b",
        "primary_types": [pattern],
        "functions": {"lib:f": {"function": f"{HERE}:{function.__name__}"}},
    }

    def find(x: Any) -> tuple[Any]:
        calls.append(x)
        return (x,)

    system = BackendSystem(None, "LIB", [f"{HERE}:Own"], backends=[backend])
    return system, system.dispatchable("x" if calls is None else find, module="lib")(f)


def test_a_registered_class_finds_its_backend() -> None:
    class Late:
        """Becomes a `Shape` after the first call."""

    _, function = make(f"@{HERE}:Shape")
    assert function(Late()) == "default"
    Shape.register(Late)
    assert function(Late()) == "backend"


def test_an_imported_alias_finds_its_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """The public name of a class may stand in a module that is imported later."""
    _, function = make("late_alias:Foreign")
    assert function(Foreign()) == "default"
    module = ModuleType("late_alias")
    module.Foreign = Foreign  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "late_alias", module)
    assert function(Foreign()) == "backend"


def test_a_guarded_backend_that_defers_is_followed_by_the_default() -> None:
    class Late:
        """A `Shape` from the beginning."""

    Shape.register(Late)
    _, function = make(f"@{HERE}:Shape", defers)
    assert [function(Late()) for _ in range(2)] == ["default"] * 2


def test_a_renewed_call_finds_its_dispatch_arguments_once() -> None:
    """A callable of the library that finds them may be slow, or use up an iterator."""

    class Late:
        """Becomes a `Shape` after the first call."""

    calls: list[Any] = []
    _, function = make(f"@{HERE}:Shape", calls=calls)
    assert function(Late()) == "default"
    Shape.register(Late)
    calls.clear()
    assert function(Late()) == "backend"
    assert len(calls) == 1
