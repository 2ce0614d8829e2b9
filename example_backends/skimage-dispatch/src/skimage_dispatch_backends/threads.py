"""NumPy arrays on all cores: scikit-image's own functions on slabs of an image."""

from __future__ import annotations

from scipy_dispatch.planning import PlannedBackend
from scipy_dispatch_threads.neighbours import plan

from ._implement import implement_all

backend = PlannedBackend("threads")
implement_all(backend, plan, globals(), rounds=False)
