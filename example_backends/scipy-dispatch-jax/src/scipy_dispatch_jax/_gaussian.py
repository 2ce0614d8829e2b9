"""The weights of Gaussian filters."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def gaussian_weights(sigma: float, order: int, truncate: float, radius: Any) -> Any:
    """Return the weights of a Gaussian, or of a derivative of it, in double precision.

    The radius in elements is `radius`, or `truncate` standard deviations.
    """
    width = float(sigma)
    if radius is None:
        radius = int(truncate * width + 0.5)
    if not isinstance(radius, numbers.Integral) or radius < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    if order < 0:
        raise ValueError("order must be non-negative")
    x = np.arange(-int(radius), int(radius) + 1)
    weights = np.exp(-0.5 / (sigma * sigma) * x**2)
    weights = weights / weights.sum()
    if order == 0:
        return weights
    # Each derivative is the Gaussian times a polynomial q. The next derivative has the
    # polynomial q' - q * x / sigma**2. As matrices on the coefficients of q:
    exponents = np.arange(order + 1)
    step = np.diag(exponents[1:], 1) + np.diag(np.ones(order) / -(sigma * sigma), -1)
    q = np.zeros(order + 1)
    q[0] = 1
    for _ in range(order):
        q = step.dot(q)
    # Reverse the weights, because SciPy defines the filter as a convolution.
    return ((x[:, None] ** exponents).dot(q) * weights)[::-1]
