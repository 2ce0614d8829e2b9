"""Random calls of every function, compared with SciPy; more with ``JAX_CALLS=20``."""

from __future__ import annotations

import os

import numpy as np
import pytest
from comparison import MODES, check
from random_calls import GENERATORS, arguments

CALLS = int(os.environ.get("JAX_CALLS", "2"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GENERATORS)
def test_as_scipy(name: str, precision: bool) -> None:
    for seed in range(CALLS):
        args, settings = arguments(name, seed)
        check(name, *args, **settings)


@pytest.mark.parametrize("mode", MODES)
def test_every_boundary_mode(mode: str, double: bool) -> None:
    """Complete: windows beyond both ends, for lines of one element, and longer than the line."""
    image = np.arange(12.0).reshape(3, 4) ** 2
    for x in (image, image[:1]):
        check("ndimage.correlate1d", x, np.arange(11.0), 0, mode=mode, cval=3, origin=-2)
        check("ndimage.correlate", x, np.arange(12.0).reshape(4, 3), mode=mode, cval=3)
        check("ndimage.minimum_filter", x, (6, 2), mode=mode, cval=3)
    where = np.array([[-7.3, -0.4, 0.0, 1.3, 2.4, 9.2], [0.2, 4.7, 3.0, -0.1, -3.6, 1.4]])
    for order in (0, 1):
        check("ndimage.map_coordinates", image, where, order=order, mode=mode, cval=3)


@pytest.mark.parametrize("mode", MODES)
def test_coordinates_halfway(mode: str, double: bool) -> None:
    """At ties, the elements that are read are SciPy's, also far beyond both ends."""
    far = [2.0**31, 2.0**31 + 2.5, -(2.0**31), -(2.0**31) - 1.5]
    for length in (1, 2, 4, 5):
        where = np.concatenate([np.arange(-3 * length, 4 * length, 0.5), far])[None]
        for order in (0, 1):
            x = np.arange(1.0, length + 1)
            check("ndimage.map_coordinates", x, where, order=order, mode=mode, cval=-1.0)
