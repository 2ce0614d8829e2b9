"""For authors of backends: compare a backend with SciPy, within tolerances that it states.

`Comparison` makes a call twice and compares the outcomes, `SAMPLES` has one call of every
function, and `scipy_dispatch.testing.strategies` draws random ones of `scipy.ndimage` with
Hypothesis. The tests of all backends in this project use them.

Examples
--------
>>> import numpy as np
>>> backend = Comparison("default", {"ndimage.sobel": {"double": EXACT}})
>>> backend.check("ndimage.sobel", SAMPLES["ndimage.sobel"])
>>> backend.why_deferred("ndimage.sobel", call(np.eye(3)))
"""

from __future__ import annotations

from ._comparison import (
    Call,
    Comparison,
    assert_identical,
    call,
    dispatchable,
    outcome,
    quietly,
    scipy_function,
    why_deferred,
)
from ._difference import EXACT, ROOTS, Tolerance, allowed_for, difference, kinds_of, leaves
from ._samples import SAMPLES

__all__ = [
    "EXACT",
    "ROOTS",
    "SAMPLES",
    "Call",
    "Comparison",
    "Tolerance",
    "allowed_for",
    "assert_identical",
    "call",
    "difference",
    "dispatchable",
    "kinds_of",
    "leaves",
    "outcome",
    "quietly",
    "scipy_function",
    "why_deferred",
]
