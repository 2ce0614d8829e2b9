"""Fifty calls that programs make often: which of them stay lazy."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from comparison import why_deferred
from sample_calls import CALLS, an_array, arguments

NAMES = [
    "ndimage.gaussian_filter",
    "ndimage.median_filter",
    "ndimage.uniform_filter",
    "ndimage.maximum_filter",
    "ndimage.minimum_filter",
    "ndimage.percentile_filter",
    "ndimage.generic_filter",
    "ndimage.sobel",
    "ndimage.laplace",
    "ndimage.gaussian_laplace",
    "ndimage.convolve",
    "ndimage.binary_dilation",
    "ndimage.binary_erosion",
    "ndimage.binary_opening",
    "ndimage.binary_closing",
    "ndimage.binary_fill_holes",
    "ndimage.grey_dilation",
    "ndimage.grey_opening",
    "ndimage.label",
    "ndimage.find_objects",
    "ndimage.center_of_mass",
    "ndimage.sum_labels",
    "ndimage.mean",
    "ndimage.distance_transform_edt",
    "ndimage.zoom",
    "ndimage.rotate",
    "ndimage.shift",
    "ndimage.affine_transform",
    "ndimage.map_coordinates",
    "signal.convolve",
    "signal.fftconvolve",
    "signal.convolve2d",
    "signal.lfilter",
    "signal.filtfilt",
    "signal.sosfiltfilt",
    "signal.savgol_filter",
    "signal.medfilt",
    "signal.detrend",
    "signal.hilbert",
    "signal.resample",
    "signal.resample_poly",
    "signal.find_peaks",
    "signal.welch",
    "signal.spectrogram",
    "signal.stft",
    "signal.csd",
    "fft.fft",
    "fft.rfft",
    "fft.fft2",
    "fft.fftshift",
]

EAGER = {
    "ndimage.binary_fill_holes": "a hole may go through the whole array",
    "ndimage.distance_transform_edt": "the nearest background may be anywhere",
    "ndimage.find_objects": "the result is a list of slices",
    "signal.find_peaks": "the number of peaks is not known, and one result is a dictionary",
}


def test_there_are_fifty_of_which_46_are_served() -> None:
    assert len(set(NAMES)) == 50
    assert len(set(NAMES).difference(EAGER)) == 46


@pytest.mark.parametrize("name", NAMES)
def test_the_call_is_served_unless_there_is_a_reason(name: str) -> None:
    first: dict[str, Any] = {"input" if name.startswith("ndimage") else "x": np.ones(9, int)}
    given = arguments(name, an_array(name)) if name in CALLS else first
    lazy = {
        key: da.from_array(value, chunks=7) if key in (*first, "in1", "data", "volume") else value
        for key, value in given.items()
    }
    assert (why_deferred(name, **lazy) is None) == (name not in EAGER)
