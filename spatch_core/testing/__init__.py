"""Helpers for the tests of libraries and of backends.

`write_distribution` writes a real backend to disk, `run_python` starts an interpreter that finds
it, and `isolated` gives a test in this interpreter a library in its initial state. `BackendDummy`
is the base class of backends in a test. The plugin for pytest runs the tests of a library under a
backend; its fixture ``spatch_backend`` is a `BackendInTest`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .backend_run import BackendInTest
    from .kit import BackendDummy, Distribution, isolated, run_python, write_distribution

__all__ = [
    "BackendDummy",
    "BackendInTest",
    "Distribution",
    "isolated",
    "run_python",
    "write_distribution",
]


def __getattr__(name: str) -> object:
    # Lazy: with the plugin, pytest imports this package in every run.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = "backend_run" if name == "BackendInTest" else "kit"
    return getattr(import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
