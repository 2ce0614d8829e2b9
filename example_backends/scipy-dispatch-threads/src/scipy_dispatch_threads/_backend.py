"""The backend object, where the implementations register."""

from __future__ import annotations

from spatch_core import BackendImplementation

backend = BackendImplementation("threads")
