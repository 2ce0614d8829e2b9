"""The backend system of the library: imports no SciPy, reads no entry point."""

from __future__ import annotations

from spatch_core import BackendSystem

system = BackendSystem(
    "scipy_dispatch.backends",
    "SCIPY_DISPATCH",
    default_primary_types=["~numpy:ndarray"],  # masked arrays and memory maps too
)
backend_opts = system.backend_opts
