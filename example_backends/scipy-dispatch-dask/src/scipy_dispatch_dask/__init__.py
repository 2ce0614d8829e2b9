"""Dask arrays for `scipy_dispatch`: Dask in, Dask out, and nothing is computed on the way.

Nothing here is imported before a function of `scipy_dispatch` meets a Dask array:
`scipy_dispatch` reads ``backend.toml``, which imports nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"
