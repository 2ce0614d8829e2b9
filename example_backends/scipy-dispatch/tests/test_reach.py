"""How far functions read, and the reasons why it may be unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from scipy_dispatch import reach
from scipy_dispatch.calls import BoundCall, Deferred
from scipy_dispatch.reach import Reach

ONES = np.ones((3, 3))


def of(name: str, **arguments: Any) -> BoundCall:
    return BoundCall(getattr(ndimage, name), arguments)


@pytest.mark.parametrize(
    ("read", "call", "radii"),
    [
        (reach.weights, of("convolve", weights=np.ones((3, 5))), [1, 2]),
        (reach.weights, of("convolve", weights=np.ones((3, 4)), origin=1), [2, 3]),
        (reach.weights, of("correlate1d", weights=[1] * 7), [0, 3]),
        (reach.gaussian, of("gaussian_filter", sigma=(1, 2)), [4, 8]),
        (reach.gaussian, of("gaussian_filter", sigma=(0, np.nan)), [0, 0]),
        (reach.gaussian, of("gaussian_filter", sigma=1, radius=(5, None)), [5, 4]),
        (reach.gaussian, of("gaussian_filter1d", sigma=3, truncate=2, axis=-2), [6, 0]),
        (reach.gaussian_laplace, of("gaussian_laplace", sigma=(1, 2)), [4, 8]),
        (reach.gaussian_gradient, of("gaussian_gradient_magnitude", sigma=1, radius=2), [2, 2]),
        (reach.stencil, of("sobel", axis=0), [1, 1]),
        (reach.window, of("grey_erosion", size=(3, 5)), [1, 2]),
        (reach.window, of("grey_erosion", footprint=np.ones((7, 1))), [3, 0]),
        (reach.two_windows, of("grey_opening", structure=ONES), [2, 2]),
        (reach.structure, of("binary_erosion", iterations=3), [3, 3]),
        (reach.two_structures, of("binary_opening", structure=np.ones((5, 1))), [4, 0]),
        (reach.hit_or_miss, of("binary_hit_or_miss", structure2=np.ones((1, 7))), [1, 3]),
        (reach.hit_or_miss, of("binary_hit_or_miss", origin1=(0, 1)), [1, 2]),
        (reach.hit_or_miss, of("binary_hit_or_miss", origin2=(-1, 0)), [2, 1]),
    ],
    ids=lambda value: value.function.__name__ if isinstance(value, BoundCall) else None,
)
def test_radii(read: Any, call: BoundCall, radii: list[int]) -> None:
    assert read(call, 2) == [Reach(radius) for radius in radii]


def test_axes_wrap_each_by_its_own_mode() -> None:
    for mode in ("wrap", "grid-wrap"):
        call = of("gaussian_filter", sigma=1, mode=("reflect", mode))
        assert reach.gaussian(call, 2) == [Reach(4), Reach(4, wraps=True)]
        call = of("gaussian_filter", sigma=1, axes=(-1,), mode=mode)
        assert reach.gaussian(call, 2) == [Reach(), Reach(4, wraps=True)]


@pytest.mark.parametrize(
    ("read", "call", "reason"),
    [
        (reach.gaussian, of("gaussian_filter", sigma=1, axes=(1, 0)), "out of order"),
        (reach.gaussian_laplace, of("gaussian_laplace", sigma=1, mode=["wrap", "mirror"]), "wrap"),
        (reach.gaussian_laplace, of("gaussian_laplace", sigma=1, order=2), "other than truncate"),
        (reach.window, of("grey_erosion", size=3, footprint=ONES), "SciPy warns"),
        (reach.window, of("grey_erosion", footprint=ONES, structure=ONES[:2]), "different shapes"),
        (reach.structure, of("binary_erosion", iterations=0), "until nothing changes"),
        (reach.window, of("uniform_filter", size=0), "a window of 0 elements is left to SciPy"),
    ],
)
def test_reasons_not_to_cut_an_array(read: Any, call: BoundCall, reason: str) -> None:
    with pytest.raises(Deferred, match=reason):
        read(call, 2)
