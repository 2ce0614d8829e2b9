"""The backend system of the library. Importing it imports no SciPy and reads no entry points."""

from __future__ import annotations

from spatch_core import BackendSystem

system = BackendSystem(
    "scipy_dispatch.backends",
    "SCIPY_DISPATCH",
    default_primary_types=["~numpy:ndarray"],  # includes masked arrays and memory maps
)
backend_opts = system.backend_opts
