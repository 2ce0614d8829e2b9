"""Calls of SciPy's tests that differ with a backend, and may: each with the reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from scipy_tests._watch import Finding


class Known(NamedTuple):
    """A difference that has a reason.

    Attributes
    ----------
    backend : str
        With which it is to be expected.
    functions : str
        Of which functions, separated by blanks.
    test, what : str
        Regular expressions, which are found in the name of the test and in what differs.
    reason : str
        Why, and where that is written for users.
    """

    backend: str
    functions: str
    test: str
    what: str
    reason: str


KNOWN = (
    Known(
        "jax",
        "ndimage.correlate1d ndimage.prewitt ndimage.sobel",
        r"test_(prewitt|sobel)0\d\[numpy-uint64\]",
        "^18446744073709551615 for 0",
        "sums below 0 in uint64, which C leaves undefined (README)",
    ),
    Known(
        "jax",
        "signal.istft",
        "test_roundtrip_nola_not_cola",
        "e-14 of the largest",
        "divided by sums of windows that are nearly 0",
    ),
    Known(
        "dask",
        "signal.oaconvolve",
        "TestOAConvolve",
        "raises RuntimeError: Fell back to fftconvolve",
        "the test forbids what the whole array needs, of which a block may be too small",
    ),
    Known(
        "dask",
        "signal.welch",
        "test_detrend_external_nd",
        r"\de-\d\d for \d.*e-\d\d,",
        "noise, after everything was subtracted",
    ),
)


def why_known(backend: str, finding: Finding) -> str | None:
    """Return the reason for which a call may differ; None if there is none."""
    for each in KNOWN:
        if (
            each.backend == backend
            and finding.function in each.functions.split()
            and re.search(each.test, finding.test)
            and re.search(each.what, finding.what)
        ):
            return each.reason
    return None
