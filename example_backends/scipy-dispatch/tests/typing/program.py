"""Facts about the library that a type checker must know; the tests also run this program.

Every suppression marks an invalid call that must be reported: unused suppressions are errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import scipy_dispatch
from scipy_dispatch import backend_opts, fft, ndimage, signal
from scipy_dispatch.signal.windows import hann

if TYPE_CHECKING:
    from collections.abc import Sequence


def right_calls() -> Sequence[str]:
    image = np.eye(8)
    blurred = ndimage.gaussian_filter(image, 1.0, mode="nearest", axes=(0,))
    opened = ndimage.binary_opening(blurred > 0.1, structure=np.ones((3, 3)))
    labels, count = ndimage.label(opened)
    _, density = signal.welch(image[0], window=hann(4), nperseg=4)
    b, a = signal.butter(2, 0.5)
    _, response = signal.freqz(b, a, worN=8)
    _, answer = signal.step((np.ones(1), np.ones(2)))
    length = fft.next_fast_len(7)
    spectrum = fft.rfft(image, n=length, workers=1)
    with backend_opts(trace=True) as trace:
        scipy_dispatch.ndimage.sobel(image)
    assert len(trace) == 1
    assert ndimage.sobel.explain(image).selected == "default"
    assert ndimage.sobel.invoke(backend="default")(image).shape == image.shape
    assert labels.max() == count
    assert density.size + response.size + answer.size + spectrum.size > 0
    return ndimage.sobel.backends


def wrong_calls() -> None:
    ndimage.gaussian_filter(np.eye(8))  # type: ignore[call-arg]
    ndimage.gaussian_filter(np.eye(8), 1.0, sigmas=2)  # type: ignore[call-arg]
    ndimage.gaussian_filter.invoke(backend="default")(np.eye(8))  # type: ignore[call-arg]
    ndimage.gausian_filter(np.eye(8), 1.0)  # type: ignore[attr-defined]
    signal.symiirorder1(np.ones(8))  # type: ignore[call-arg]
    fft.fft()  # type: ignore[call-arg]
