"""Fifty daily calls of SciPy, with its defaults: which of them run on JAX arrays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from comparison import why_deferred
from scipy import signal

IMAGE = jnp.asarray(np.random.default_rng(0).random((32, 32)), np.float32)
MASK, LABELS = IMAGE > 0.5, jnp.arange(1024).reshape(32, 32) // 256
LINE = IMAGE.ravel()
B, A = signal.butter(3, 0.2)
SOS = signal.butter(4, 0.2, output="sos")
KERNEL = jnp.ones((3, 3), np.float32)

CALLS: dict[str, tuple[Any, ...]] = {
    "ndimage.gaussian_filter": (IMAGE, 2),
    "ndimage.uniform_filter": (IMAGE, 5),
    "ndimage.median_filter": (IMAGE, 3),
    "ndimage.maximum_filter": (IMAGE, 5),
    "ndimage.generic_filter": (IMAGE, np.mean, 3),
    "ndimage.sobel": (IMAGE,),
    "ndimage.laplace": (IMAGE,),
    "ndimage.gaussian_gradient_magnitude": (IMAGE, 2),
    "ndimage.convolve": (IMAGE, KERNEL),
    "ndimage.zoom": (IMAGE, 2),
    "ndimage.rotate": (IMAGE, 30),
    "ndimage.shift": (IMAGE, 1.5),
    "ndimage.affine_transform": (IMAGE, np.eye(2)),
    "ndimage.map_coordinates": (IMAGE, jnp.ones((2, 5))),
    "ndimage.binary_erosion": (MASK,),
    "ndimage.binary_dilation": (MASK,),
    "ndimage.binary_opening": (MASK,),
    "ndimage.binary_fill_holes": (MASK,),
    "ndimage.grey_erosion": (IMAGE, 3),
    "ndimage.white_tophat": (IMAGE, 5),
    "ndimage.morphological_gradient": (IMAGE, 3),
    "ndimage.distance_transform_edt": (MASK,),
    "ndimage.label": (MASK,),
    "ndimage.find_objects": (LABELS,),
    "ndimage.sum_labels": (IMAGE, LABELS, [1, 2, 3]),
    "ndimage.mean": (IMAGE, LABELS, [1, 2, 3]),
    "ndimage.maximum": (IMAGE, LABELS, [1, 2, 3]),
    "ndimage.center_of_mass": (IMAGE,),
    "fft.fft": (LINE,),
    "fft.rfft": (LINE,),
    "fft.fft2": (IMAGE,),
    "fft.dct": (LINE,),
    "fft.fftshift": (IMAGE,),
    "signal.fftconvolve": (IMAGE, KERNEL),
    "signal.correlate": (IMAGE, KERNEL),
    "signal.convolve2d": (IMAGE, KERNEL),
    "signal.lfilter": (B, A, LINE),
    "signal.filtfilt": (B, A, LINE),
    "signal.sosfiltfilt": (SOS, LINE),
    "signal.savgol_filter": (LINE, 11, 3),
    "signal.medfilt": (LINE,),
    "signal.detrend": (LINE,),
    "signal.resample": (LINE, 100),
    "signal.resample_poly": (LINE, 2, 3),
    "signal.hilbert": (LINE,),
    "signal.find_peaks": (LINE,),
    "signal.welch": (LINE,),
    "signal.spectrogram": (LINE,),
    "signal.stft": (LINE,),
    "signal.periodogram": (LINE,),
}
MISSING = {"ndimage.generic_filter", "ndimage.find_objects", "signal.find_peaks"}


@pytest.mark.parametrize("name", CALLS)
def test_a_common_call(name: str) -> None:
    assert (why_deferred(name, *CALLS[name]) is not None) == (name in MISSING)


def test_the_readme_counts_them() -> None:
    text = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
    served, total = map(int, re.findall(r"(\d+) of (\d+)\s+common calls", text)[0])
    assert (served, total) == (len(CALLS) - len(MISSING), len(CALLS))
