"""Run functions of `scipy_dispatch` on JAX arrays, also while JAX traces.

No module of this package is imported before a function of `scipy_dispatch` receives a JAX array:
`scipy_dispatch` reads ``backend.toml``, which needs no import.
"""

from __future__ import annotations

__version__ = "0.1.0"
