"""Helpers for the tests of libraries and of backends.

`write_distribution` makes a real backend on disk, `run_python` a fresh interpreter that
finds it, and `isolated` gives a test of this interpreter a library that nothing else has
touched. `BackendDummy` is the base of backends that are classes of a test.
"""

from __future__ import annotations

from .distributions import Distribution, write_distribution
from .dummy import BackendDummy
from .interpreters import run_python
from .isolation import isolated

__all__ = ["BackendDummy", "Distribution", "isolated", "run_python", "write_distribution"]
