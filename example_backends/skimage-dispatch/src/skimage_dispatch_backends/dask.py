"""Dask arrays, lazily: scikit-image's own functions on blocks of an image."""

from __future__ import annotations

from scipy_dispatch.planning import PlannedBackend
from scipy_dispatch_dask.neighbours import plan

from ._implement import implement_all

backend = PlannedBackend("dask")
implement_all(backend, plan, globals(), rounds=True)
