"""A typical call of every function, which must be shared among threads."""

from __future__ import annotations

from typing import Any

import numpy as np

WEIGHTS = np.arange(15.0).reshape(3, 5) - 6
COORDINATES = 30 * np.random.default_rng(1).random((2, 9, 11))

CALLS: dict[str, dict[str, Any]] = {
    "binary_closing": {"iterations": 2},
    "binary_dilation": {"structure": np.ones((2, 3))},
    "binary_erosion": {"iterations": 2, "border_value": 1},
    "binary_hit_or_miss": {"structure1": np.eye(3)},
    "binary_opening": {},
    "black_tophat": {"size": 3},
    "convolve": {"weights": WEIGHTS, "mode": "wrap"},
    "convolve1d": {"weights": [1, 2, -1, 0], "axis": 0, "origin": 1},
    "correlate": {"weights": WEIGHTS, "mode": "constant", "cval": 2.0},
    "correlate1d": {"weights": [1, 2, -1], "mode": "mirror"},
    "gaussian_filter": {"sigma": (2, 1), "order": (0, 1), "mode": ("wrap", "nearest")},
    "gaussian_filter1d": {"sigma": 1.5, "axis": 0},
    "gaussian_gradient_magnitude": {"sigma": 0.8, "mode": "wrap"},
    "gaussian_laplace": {"sigma": 0.8, "truncate": 3.0},
    "grey_closing": {"size": (3, 4)},
    "grey_dilation": {"size": 4},
    "grey_erosion": {"structure": WEIGHTS},
    "grey_opening": {"footprint": [[0, 1, 0], [1, 1, 1], [0, 1, 0]]},
    "laplace": {"mode": ("wrap", "reflect")},
    "map_coordinates": {"coordinates": COORDINATES, "mode": "mirror"},
    "maximum_filter": {"size": 5, "mode": "wrap"},
    "maximum_filter1d": {"size": 5, "origin": -2},
    "median_filter": {"size": 3},
    "minimum_filter": {"size": (5, 2), "origin": (1, 0)},
    "minimum_filter1d": {"size": 4, "axis": 0},
    "morphological_gradient": {"size": 3},
    "morphological_laplace": {"size": 3},
    "percentile_filter": {"percentile": 20, "size": 3},
    "prewitt": {"axis": 0},
    "rank_filter": {"rank": -2, "size": (1, 5)},
    "rotate": {"angle": 30},
    "sobel": {},
    "spline_filter": {"order": 5},
    "spline_filter1d": {"axis": 0},
    "uniform_filter": {"size": (5, 4), "mode": "wrap"},
    "uniform_filter1d": {"size": 6, "axis": 0},
    "white_tophat": {"size": 3},
}


def an_array(name: str, dtype: str = "float64") -> np.ndarray[Any, Any]:
    """Return an array for the call."""
    shape = (20, 18, 30) if name == "rotate" else (50, 60)
    values = 100 * np.random.default_rng(0).standard_normal(shape)
    return (values > 0 if name.startswith("binary") else values).astype(dtype)
