"""The two backends, where implementations register."""

from __future__ import annotations

from spatch_core import BackendImplementation

cupy = BackendImplementation("cupy")
offload = BackendImplementation("cupy-offload")
