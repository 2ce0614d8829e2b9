"""Arrays larger than memory: the work needs a few blocks at a time, never the whole array."""

from __future__ import annotations

import sys

import pytest

from spatch_core.testing import run_python

# A process that may allocate 60 MB after its imports, and an array of 240 MB.
SCRIPT = """
import resource

import dask
import dask.array as da
import numpy as np
from scipy_dispatch import fft, ndimage, signal

with dask.config.set({"scheduler": "synchronous", "array.chunk-size": "5MB"}):
    # Everything that is loaded at the first use.
    small = da.ones((20, 20), chunks=10)
    ndimage.sobel(ndimage.gaussian_filter(small, 1)).mean().compute()
    signal.convolve2d(small, np.ones((3, 3))).mean().compute()
    ndimage.rotate(small, 3).mean().compute()
    signal.sosfilt(np.array([[1.0, 0, 0, 1, 0, 0]]), small, axis=0).mean().compute()

    with open("/proc/self/status") as file:
        (now,) = [int(line.split()[1]) for line in file if line.startswith("VmData")]
    limit = now * 1024 + 60_000_000
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    x = da.random.default_rng(0).random((12_000, 2_500), chunks=(100, 2_500))
    assert x.nbytes == 240_000_000
    try:
        x.compute()
    except MemoryError:
        print("the array does not fit")
    CASE
    print(float(y.compute()))
"""

CASES = {
    "filters": "y = ndimage.sobel(ndimage.gaussian_filter(x, 1), mode='wrap').max()",
    "zoom": "y = ndimage.zoom(x, (0.4, 1), mode='reflect').max()",
    "rotation": "y = ndimage.rotate(x, 3, order=1, reshape=False).max()",
    "convolution": "y = signal.convolve2d(x, np.ones((3, 3)), mode='same').max()",
    # For an array that is split along both axes, one column of blocks at a time becomes lines.
    "lines": "x = da.random.default_rng(0).random(x.shape, chunks=(3_000, 50)); "
    "y = signal.sosfilt(np.array([[1.0, 0, 0, 1, -0.5, 0]]), x, axis=0).max()",
}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit memory alike")
@pytest.mark.parametrize("case", CASES)
def test_an_array_that_does_not_fit_is_filtered(case: str) -> None:
    done = run_python(
        SCRIPT.replace("CASE", CASES[case]), environment={"OPENBLAS_NUM_THREADS": "1"}
    )
    refused, result = done.stdout.splitlines()
    assert refused == "the array does not fit"
    assert float(result) > 0
