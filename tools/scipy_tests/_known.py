"""Accepted differences between backends and SciPy in SciPy's tests, each with its reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scipy_tests._watch import Finding


KNOWN: tuple[tuple[str, str, str, str, str], ...] = (
    (
        "jax",
        "ndimage.correlate1d ndimage.prewitt ndimage.sobel",
        r"test_(prewitt|sobel)0\d\[numpy-uint64\]",
        "^18446744073709551615 for 0",
        "sums below 0 in uint64, which C leaves undefined (README)",
    ),
    (
        "jax",
        "ndimage.map_coordinates",
        "test_uint64_max",
        "^18446744073709547520 for 18446744073709549568",
        "beyond 2**53 a double has no ones: its last digit may differ",
    ),
    (
        "jax",
        "signal.savgol_filter",
        "test_sg_filter_valid_window_length_3d",
        r"1\.1e-12 of the largest",
        "at the ends, another formula for the polynomial of 29 elements",
    ),
    (
        "jax",
        "signal.istft",
        "test_roundtrip_nola_not_cola",
        "e-14 of the largest",
        "divided by sums of windows that are nearly 0",
    ),
    (
        "jax",
        "signal.lfilter",
        r"TestLinearFilter(Float32|Complex64)::test_zi_pseudobroadcast",
        r"e-04 of the largest",
        "eight poles near the unit circle: both results are 1e-3 off in single precision (README)",
    ),
    (
        "default",
        "signal.sepfir2d",
        r"test_sepfir2d_strided_[23]",
        r" of the largest, in \d of (16|25) elements",
        "SciPy reads memory beyond a line that is shorter than the filter: any number may be there",
    ),
    (
        "dask",
        "signal.oaconvolve",
        "TestOAConvolve",
        "raises RuntimeError: Fell back to fftconvolve",
        "the test forbids what the whole array needs, of which a block may be too small",
    ),
    (
        "dask",
        "signal.csd signal.welch",
        "test_detrend_external_nd",
        r"^[\d.]+e-[23]\d for [\d.]+e-[23]\d,",
        "noise, after everything was subtracted",
    ),
)
"""Each row has the backend; the functions, separated by spaces; regular expressions that are
searched for in the name of the test and in the description of the difference; and the reason, with
the place where it is documented for users."""


def why_known(name: str, finding: Finding) -> str | None:
    """Return the reason for which a backend's call may differ; None if it is not accepted."""
    for backend, functions, test, what, reason in KNOWN:
        if (
            backend == name
            and finding.function in functions.split()
            and re.search(test, finding.test)
            and re.search(what, finding.what)
        ):
            return reason
    return None
