"""NaN and infinity spread to the same elements as in SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from comparison import check

IMAGE = np.ones((5, 6))
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("ndimage.sobel", (), {}),
    ("ndimage.prewitt", (0,), {}),
    ("ndimage.laplace", (), {}),
    ("ndimage.gaussian_filter", (0.8,), {"order": (0, 1)}),
    ("ndimage.gaussian_filter1d", (0.8,), {"order": 1}),
    ("ndimage.correlate1d", ([0, 1, 0],), {}),
    ("ndimage.convolve1d", ([1, 0, -1],), {}),
    ("ndimage.correlate", (np.array([[0.0, 1, 0], [2, 0, 1]]),), {}),
    ("ndimage.convolve", (np.array([[0.0, 1, 0], [2, 0, 1]]),), {}),
    ("signal.convolve", (np.array([[1.0, 0, -1]]),), {"method": "direct"}),
    ("signal.correlate", (np.array([[1.0, 0, -1]]),), {"method": "direct"}),
    ("signal.convolve2d", (np.array([[1.0, 0, -1]]),), {}),
    ("signal.correlate2d", (np.array([[1.0, 0, -1]]),), {"boundary": "wrap"}),
]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize(("name", "args", "settings"), CALLS, ids=lambda each: str(each)[:25])
def test_they_are_where_scipy_s_are(
    name: str, args: Any, settings: dict[str, Any], value: float, double: bool
) -> None:
    """Weights of zero are multiplied too, except in n-d windows."""
    x = IMAGE.copy()
    x[2, 3] = value
    check(name, x, *args, **settings)
