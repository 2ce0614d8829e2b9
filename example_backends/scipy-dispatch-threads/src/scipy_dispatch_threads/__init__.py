"""Run functions of scipy_dispatch on NumPy arrays with all cores.

An array is cut into slabs along one axis. SciPy's own function runs on every slab, each in a
thread of its own, and the results are put together. Each slab includes as many neighbouring
elements as the function reads, so that the result equals SciPy's bit for bit.

Examples
--------
>>> import numpy as np
>>> import scipy_dispatch_threads
>>> scipy_dispatch_threads.set_workers(4)
>>> scipy_dispatch_threads.workers()
4
>>> scipy_dispatch_threads.set_workers(None)
"""

from __future__ import annotations

from ._pool import set_workers, workers

__version__ = "0.1.0"

__all__ = ["set_workers", "workers"]
