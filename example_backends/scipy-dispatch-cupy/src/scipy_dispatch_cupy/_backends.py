"""The two backends, on which the implementations are registered."""

from __future__ import annotations

from spatch_core import BackendImplementation

cupy = BackendImplementation("cupy")
offload = BackendImplementation("cupy-offload")
