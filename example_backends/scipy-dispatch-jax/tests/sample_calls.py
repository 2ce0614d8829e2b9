"""One call of every function of the backend, as data: NumPy arrays, with the first one separate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

_random = np.random.default_rng(20261121)
IMAGE = _random.uniform(-20, 20, (5, 6))
LINE = _random.uniform(-20, 20, (2, 24))
SPECTRUM = _random.normal(size=(5, 6)) + 1j * _random.normal(size=(5, 6))
KERNEL = np.array([[0.5, -1.0, 0.25], [2.0, 1.5, -0.75]])
WEIGHTS = np.array([0.25, -1.0, 0.5, 2.0])
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], dtype=bool)
BLOBS = np.maximum(IMAGE, 0)
LABELS = np.array([[0, 1, 1, 2, 2, 3]] * 5)
LONG = _random.uniform(-20, 20, 64)
TURN = np.array([[0.75, 0.5], [-0.5, 0.875]])
SECTIONS = np.array([[0.5, 0.25, 0.125, 1, -0.5, 0.25], [1.0, 0.5, 0, 1, 0.25, 0]])
WHERE = np.array([[0.25, 2.125, 3.375], [1.125, 4.25, -0.625]])


class Call(NamedTuple):
    """An array and the arguments that follow it, and those before it."""

    x: np.ndarray
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    before: tuple[Any, ...] = ()

    def given(self, x: Any) -> tuple[Any, ...]:
        """Return the arguments by position, with another array."""
        return (*self.before, x, *self.args)


def call(x: np.ndarray, *args: Any, **kwargs: Any) -> Call:
    return Call(x, args, kwargs)


_segments = {"nperseg": 8, "noverlap": 3}
_integers = np.array([3, 1, 2])

CALLS: dict[str, Call] = {
    "ndimage.correlate": call(IMAGE, KERNEL, mode="mirror"),
    "ndimage.convolve": call(IMAGE, KERNEL, mode="constant", cval=2.0),
    "ndimage.correlate1d": call(IMAGE, WEIGHTS, axis=0),
    "ndimage.convolve1d": call(IMAGE, WEIGHTS, mode="wrap"),
    "ndimage.gaussian_filter": call(IMAGE, 0.8, order=(0, 1)),
    "ndimage.gaussian_filter1d": call(IMAGE, 1.2, mode="nearest"),
    "ndimage.gaussian_laplace": call(IMAGE, 0.8),
    "ndimage.gaussian_gradient_magnitude": call(IMAGE, 0.8),
    "ndimage.uniform_filter": call(IMAGE, (3, 2)),
    "ndimage.uniform_filter1d": call(IMAGE, 4, axis=0),
    "ndimage.sobel": call(IMAGE, 0),
    "ndimage.prewitt": call(IMAGE),
    "ndimage.laplace": call(IMAGE, mode="wrap"),
    "ndimage.minimum_filter": call(IMAGE, footprint=CROSS),
    "ndimage.maximum_filter": call(IMAGE, (2, 3)),
    "ndimage.minimum_filter1d": call(IMAGE, 3),
    "ndimage.maximum_filter1d": call(IMAGE, 4, axis=0),
    "ndimage.median_filter": call(IMAGE, 3),
    "ndimage.rank_filter": call(IMAGE, 1, footprint=CROSS),
    "ndimage.percentile_filter": call(IMAGE, 30, size=(2, 3)),
    "ndimage.map_coordinates": call(IMAGE, WHERE, order=1, mode="nearest"),
    "ndimage.zoom": call(IMAGE, 1.7),
    "ndimage.rotate": call(IMAGE, 30.0),
    "ndimage.shift": call(IMAGE, (1.25, -0.5), order=1, mode="mirror"),
    "ndimage.affine_transform": call(IMAGE, TURN, (0.25, 1.5), order=2, mode="grid-wrap"),
    "ndimage.spline_filter": call(IMAGE),
    "ndimage.spline_filter1d": call(IMAGE, 5, axis=0, mode="reflect"),
    **{f"ndimage.grey_{name}": call(IMAGE, (2, 3)) for name in ("erosion", "opening", "closing")},
    "ndimage.grey_dilation": call(IMAGE, structure=np.array([[1, 0, 2], [-3, 1, 0]])),
    **{
        f"ndimage.{name}": call(IMAGE, footprint=CROSS)
        for name in ("morphological_gradient", "morphological_laplace")
    },
    **{f"ndimage.{name}_tophat": call(IMAGE, 3) for name in ("white", "black")},
    **{
        f"ndimage.binary_{name}": call(BLOBS, **settings)
        for name, settings in {
            "erosion": {"border_value": 1},
            "dilation": {"iterations": 2, "mask": IMAGE > -10},
            "opening": {},
            "closing": {"structure": np.ones((2, 2))},
            "hit_or_miss": {},
            "propagation": {"mask": IMAGE > -10},
            "fill_holes": {},
        }.items()
    },
    **{
        f"ndimage.{name}": call(IMAGE, LABELS, np.array([2, 1, 3]))
        for name in ("sum", "sum_labels", "mean", "variance", "standard_deviation")
    },
    **{f"ndimage.{name}": call(IMAGE, LABELS, np.array([2, 1])) for name in ("minimum", "maximum")},
    **{
        f"ndimage.{name}": call(IMAGE, LABELS, 1)
        for name in ("center_of_mass", "extrema", "minimum_position", "maximum_position")
    },
    "ndimage.label": call(BLOBS),
    "ndimage.distance_transform_edt": call(BLOBS, (1.5, 0.5)),
    **{
        f"fft.{name}{axes}": call(IMAGE if name in ("rfft", "ihfft") else SPECTRUM)
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for axes in ("", "2", "n")
    },
    **{
        f"fft.{name}{axes}": call(IMAGE, type)
        for name, type in {"dct": 2, "idct": 1, "dst": 3, "idst": 4}.items()
        for axes in ("", "n")
    },
    "fft.fftshift": call(IMAGE),
    "fft.ifftshift": call(IMAGE, axes=0),
    "signal.convolve": call(LINE, KERNEL),
    "signal.correlate": call(LINE, KERNEL, mode="same"),
    "signal.fftconvolve": call(LINE, KERNEL),
    "signal.convolve2d": call(IMAGE, KERNEL, boundary="symm"),
    "signal.correlate2d": call(IMAGE, KERNEL, mode="same"),
    "signal.detrend": call(LINE),
    "signal.welch": call(LINE, **_segments),
    "signal.csd": call(LINE, LINE[::-1] + 1, **_segments),
    "signal.periodogram": call(LINE),
    "signal.spectrogram": call(LINE, **_segments),
    "signal.hilbert": call(LINE),
    "signal.hilbert2": call(IMAGE),
    "signal.oaconvolve": call(LINE, KERNEL),
    "signal.coherence": call(LINE, LINE[::-1] + 1, **_segments),
    "signal.savgol_filter": call(LINE, 7, 2),
    "signal.upfirdn": call(WEIGHTS, LINE, 3, 2),
    "signal.resample_poly": call(LINE, 3, 2, axis=1),
    "signal.resample": call(LINE, 17, axis=1),
    "signal.decimate": call(LONG, 2),
    "signal.lfilter": call(np.array([0.5, 0.25, -0.125]), np.array([1.0, -0.5, 0.25]), LINE),
    "signal.filtfilt": call(np.array([0.5, 0.25]), np.array([2.0, -0.5]), LINE),
    "signal.sosfilt": call(SECTIONS, LINE),
    "signal.sosfiltfilt": Call(LONG, (), {}, (SECTIONS,)),
    "signal.medfilt": call(IMAGE),
    "signal.medfilt2d": call(IMAGE, 5),
    "signal.order_filter": call(IMAGE, CROSS, 1),
    "signal.wiener": call(IMAGE, 3),
    "signal.stft": call(LINE, **_segments),
    "signal.istft": call(SPECTRUM, nperseg=8),
}

# Results that are counts, places or true and false have no slopes.
STEPS = ("ndimage.binary_", "ndimage.label", "ndimage.distance", "_position", "ndimage.extrema")
