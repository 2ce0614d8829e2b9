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
    test : str
        A regular expression, which is found in the name of the test.
    reason : str
        Why, and where that is written for users.
    """

    backend: str
    functions: str
    test: str
    reason: str


KNOWN = (
    Known(
        "jax",
        "ndimage.correlate1d ndimage.prewitt ndimage.sobel",
        r"test_(prewitt|sobel)0\d\[numpy-uint64\]",
        "sums below 0 in uint64, which C leaves undefined (README)",
    ),
)


def why_known(backend: str, finding: Finding) -> str | None:
    """Return the reason for which a call may differ; None if there is none."""
    for each in KNOWN:
        if (
            each.backend == backend
            and finding.function in each.functions.split()
            and re.search(each.test, finding.test)
        ):
            return each.reason
    return None
