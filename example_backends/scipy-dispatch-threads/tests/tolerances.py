"""The tolerances for results relative to SciPy's: zero for every function and data type."""

from __future__ import annotations

from scipy_dispatch.testing import Tolerance
from scipy_dispatch_threads._table import TABLE

EXACT = Tolerance(0, 0, "exact: SciPy computes every part, from the same neighbours")
TOLERANCES = {f"ndimage.{name}": {"all": EXACT} for name in TABLE}
