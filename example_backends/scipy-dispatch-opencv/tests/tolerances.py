"""The tolerances for results relative to SciPy's, relative to the largest value of the image."""

from __future__ import annotations

from scipy_dispatch.testing import EXACT, Tolerance

_SUMS = "sums of another order, in single precision for single precision"
_EXACT = {"all": EXACT}
_ORDERS = (
    *("median_filter", "minimum_filter", "maximum_filter"),
    *("grey_erosion", "grey_dilation", "grey_opening", "grey_closing"),
    *("morphological_gradient", "white_tophat", "black_tophat"),
)
TOLERANCES: dict[str, dict[str, Tolerance]] = {
    **{f"ndimage.{name}": _EXACT for name in _ORDERS},
    "ndimage.gaussian_filter": {
        "single": Tolerance(2e-6, 0, _SUMS),
        "double": Tolerance(1e-14, 0, _SUMS),
    },
    "ndimage.uniform_filter": {
        "single": Tolerance(2e-6, 0, _SUMS),
        "double": Tolerance(1e-12, 0, _SUMS),
    },
    "ndimage.zoom": dict.fromkeys(
        ("single", "double"), Tolerance(2e-6, 0, "positions in single precision")
    ),
}
