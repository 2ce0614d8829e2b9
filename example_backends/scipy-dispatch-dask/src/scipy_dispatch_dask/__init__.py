"""Run functions of `scipy_dispatch` on Dask arrays lazily: they return Dask arrays.

No module of this package is imported before a function of `scipy_dispatch` receives a Dask
array: `scipy_dispatch` reads ``backend.toml``, which needs no import.
"""

from __future__ import annotations

__version__ = "0.1.0"
