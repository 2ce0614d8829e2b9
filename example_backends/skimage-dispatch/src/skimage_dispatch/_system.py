"""The backend system of the library. Importing it imports no scikit-image."""

from __future__ import annotations

from spatch_core import BackendSystem

system = BackendSystem(
    "skimage_dispatch.backends",
    "SKIMAGE_DISPATCH",
    default_primary_types=["~numpy:ndarray"],
    default_secondary_types=["~numpy:generic"],
)
backend_opts = system.backend_opts
