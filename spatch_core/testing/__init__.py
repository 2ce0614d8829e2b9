"""Helpers for the tests of libraries and of backends.

`write_distribution` writes a real backend to disk, `run_python` starts an interpreter that finds
it, and `isolated` gives a test in this interpreter a library in its initial state. `BackendDummy`
is the base class of backends in a test. The plugin for pytest runs the tests of a library under a
backend; its fixture ``spatch_backend`` is a `BackendInTest`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .backend_in_test import BackendInTest
    from .distributions import Distribution, write_distribution
    from .dummy import BackendDummy
    from .interpreters import run_python
    from .isolation import isolated

__all__ = [
    "BackendDummy",
    "BackendInTest",
    "Distribution",
    "isolated",
    "run_python",
    "write_distribution",
]

_MODULES = {
    "BackendDummy": "dummy",
    "BackendInTest": "backend_in_test",
    "Distribution": "distributions",
    "isolated": "isolation",
    "run_python": "interpreters",
    "write_distribution": "distributions",
}


def __getattr__(name: str) -> object:
    # Lazy: with the plugin, pytest imports this package in every run.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
