"""Typical operations on pictures and volumes, each faster than SciPy with at least one backend.

What is filtered is a photograph, enlarged, with grain as of a camera's sensor: without it the
enlarged picture is smoother than any that a camera takes. The volume is a stack of planes
through which the same photograph comes into focus and goes out of it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.ndimage

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

GRAIN = 0.02
"""The deviation of the grain; black is 0 and white is 1."""
AIM = 1.7
"""The target for threads on two cores, relative to SciPy's speed."""
SUMS = 2e-6
"""Relative to the largest value; SciPy sums in double precision, and rounds at the end."""
SPECTRA = 1e-5
"""Relative to the largest value; Fourier transforms of other lengths round differently."""


@dataclass(frozen=True)
class Case:
    """A call of a function that SciPy and scipy_dispatch have under the same name."""

    title: str
    data: str
    function: str
    arguments: dict[str, Any]
    tolerances: dict[str, float]
    """The tolerance for kinds of arrays (``"dask"``, ``"jax"``, ``"cupy"``), relative to the
    largest value. Results of other kinds must be the same."""
    is_aimed: bool = False
    """Whether the target for threads is `AIM` times SciPy's speed."""

    @property
    def name(self) -> str:
        """The name of the case on the command line."""
        return f"{self.function.rpartition('.')[2]}-{self.data}"

    def function_of(self, library: Any) -> Callable[..., Any]:
        """Return the function of SciPy or of scipy_dispatch."""
        function: Callable[..., Any] = attrgetter(self.function)(library)
        return function


def disk(radius: int) -> Array:
    rows, columns = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    window: Array = np.hypot(rows, columns) <= radius + 0.3
    return window


def blur() -> Array:
    """Return the image of a point through a lens that is out of focus, 31 by 31 pixels."""
    spread = scipy.ndimage.gaussian_filter(disk(15).astype(np.float32), 1.0)
    normal: Array = (spread / spread.sum()).astype(np.float32)
    return normal


P, M, V = "photograph", "mask", "volume"
SUM = {"jax": SUMS, "cupy": SUMS}
RUNNING = {"dask": SUMS, **SUM}
SPECTRUM = {"dask": SPECTRA, "jax": SPECTRA / 10, "cupy": SPECTRA}
DISK = {"footprint": disk(3)}
BLUR = {"in2": blur(), "mode": "same"}
CUBE = {"size": (5, 5, 5)}
HALF = {"zoom": 0.5, "order": 1}
TURN = {"angle": 15, "axes": (1, 2), "reshape": False, "order": 1}

CASES = (
    Case("gaussian_filter, sigma 3", P, "ndimage.gaussian_filter", {"sigma": 3}, SUM, True),
    Case("median_filter, 3 x 3", P, "ndimage.median_filter", {"size": 3}, {}, True),
    Case("uniform_filter, 9 x 9", P, "ndimage.uniform_filter", {"size": 9}, RUNNING),
    Case("grey_erosion, 9 x 9", P, "ndimage.grey_erosion", {"size": (9, 9)}, {}, True),
    Case("grey_dilation, a disk of 37", P, "ndimage.grey_dilation", DISK, {}, True),
    Case("white_tophat, 15 x 15", P, "ndimage.white_tophat", {"size": (15, 15)}, {}, True),
    Case("sobel", P, "ndimage.sobel", {"axis": 0}, SUM),
    Case("laplace", P, "ndimage.laplace", {}, SUM),
    Case("fftconvolve, 31 x 31", P, "signal.fftconvolve", BLUR, SPECTRUM),
    Case("zoom to a half", P, "ndimage.zoom", HALF, SUM),
    Case("binary_opening, twice", M, "ndimage.binary_opening", {"iterations": 2}, {}, True),
    Case("gaussian_filter, sigma 2, volume", V, "ndimage.gaussian_filter", {"sigma": 2}, SUM, True),
    Case("median_filter, 3 x 3 x 3, volume", V, "ndimage.median_filter", {"size": 3}, {}, True),
    Case("grey_opening, 5 x 5 x 5, volume", V, "ndimage.grey_opening", CUBE, {}, True),
    Case("rotate by 15°, volume", V, "ndimage.rotate", TURN, SUM),
)


def data_of(megapixels: float) -> dict[str, Callable[[], Array]]:
    """Return functions that make the data, by name; the volume has an eighth of the elements."""
    return {
        "photograph": partial(photograph, megapixels),
        "mask": partial(mask, megapixels),
        "volume": partial(volume, megapixels / 8),
    }


def photograph(megapixels: float) -> Array:
    """Return the photograph in shades of grey, enlarged to about the given megapixels."""
    picture = _original()
    factor = (megapixels * 1e6 / picture.size) ** 0.5
    return _grained(scipy.ndimage.zoom(picture, factor, order=3))


def mask(megapixels: float) -> Array:
    """Return the mask of pixels that are brighter than average."""
    picture = photograph(megapixels)
    bright: Array = picture > picture.mean()
    return bright


def volume(megavoxels: float) -> Array:
    """Return a stack in which the photograph comes into focus and goes out of focus."""
    side = max(round((megavoxels * 1e6) ** (1 / 3)), 8)
    picture = _original()
    middle = picture[:, (picture.shape[1] - picture.shape[0]) // 2 :][:, : picture.shape[0]]
    sharp = scipy.ndimage.zoom(middle, side / len(middle), order=3)
    planes = np.empty((side, *sharp.shape), np.float32)
    for number, plane in enumerate(planes):
        distance = abs(number - side / 2) / side
        scipy.ndimage.gaussian_filter(sharp, 16 * distance, output=plane)
    return _grained(planes)


def _original() -> Array:
    import skimage.data

    weights = np.array([0.2126, 0.7152, 0.0722], np.float32) / 255
    grey: Array = skimage.data.coffee().astype(np.float32) @ weights
    return grey


def _grained(picture: Array) -> Array:
    rng = np.random.default_rng(0)
    for row in picture:  # row by row, so that no second picture is allocated
        row += GRAIN * rng.standard_normal(row.shape, np.float32)
    return np.clip(picture, 0, 1, out=picture)
