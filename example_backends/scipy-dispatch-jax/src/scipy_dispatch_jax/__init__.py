"""JAX arrays for `scipy_dispatch`: JAX in, JAX out, also while JAX traces.

Nothing here is imported before a function of `scipy_dispatch` meets a JAX array:
`scipy_dispatch` reads ``backend.toml``, which imports nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"
