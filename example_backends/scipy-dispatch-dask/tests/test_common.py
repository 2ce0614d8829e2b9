"""Fifty calls that programs make often: which of them stay lazy."""

from __future__ import annotations

import dask.array as da
import pytest
from comparison import why_deferred
from samples import SERVED, an_array, arguments

NAMES = [
    f"{module}.{name}"
    for module, names in {
        "ndimage": """
            gaussian_filter median_filter uniform_filter maximum_filter minimum_filter
            percentile_filter generic_filter sobel laplace gaussian_laplace convolve
            binary_dilation binary_erosion binary_opening binary_closing
            binary_fill_holes grey_dilation grey_opening label find_objects
            center_of_mass sum_labels mean distance_transform_edt zoom rotate shift
            affine_transform map_coordinates
        """,
        "signal": """
            convolve fftconvolve convolve2d lfilter filtfilt sosfiltfilt savgol_filter
            medfilt detrend hilbert resample resample_poly find_peaks welch
            spectrogram stft csd
        """,
        "fft": """
            fft rfft fft2 fftshift
        """,
    }.items()
    for name in names.split()
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
    if name in SERVED:
        x = an_array(name)
        lazy = arguments(name, da.from_array(x, chunks=tuple(1 + n // 2 for n in x.shape)))
    else:
        lazy = {"input" if name.startswith("ndimage") else "x": da.ones(9, dtype=int, chunks=7)}
    assert (why_deferred(name, **lazy) is None) == (name not in EAGER)
