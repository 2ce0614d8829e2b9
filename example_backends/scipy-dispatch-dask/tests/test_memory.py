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


# Two workers of 600 MB each, of which the interpreter with Dask and SciPy takes a quarter, and an
# array of 1200 MB, of which both together can hold little more than a half. Nothing is spilled to
# disk: a worker that exceeds its memory is terminated, and the call fails. The filter needs half
# of the rest; on a busy machine a worker holds more blocks, while it waits for the other one.
CLUSTER = """
import os
import resource

import dask
import dask.array as da
from distributed import Client, LocalCluster
from scipy_dispatch import ndimage

settings = {
    "distributed.scheduler.allowed-failures": 0,
    **{f"distributed.worker.memory.{name}": False for name in ("target", "spill", "pause")},
    "distributed.worker.memory.terminate": 0.95,
    "distributed.worker.memory.monitor-interval": "20 ms",
}
LIMIT = 600_000_000

def main():
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=LIMIT, host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        workers = client.run(os.getpid)
        x = da.random.default_rng(0).random((30_000, 5_000), chunks=(500, 1000))
        assert x.nbytes == 1_200_000_000
        y = ndimage.gaussian_filter(x, 1).mean()
        assert abs(y.compute() - 0.5) < 0.01
        assert client.run(os.getpid) == workers, "a worker was ended"
        peaks = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
        assert max(peaks.values()) < LIMIT, peaks
        print(max(peaks.values()) // 1_000_000)


if __name__ == "__main__":  # the workers import this file
    main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell memory alike")
def test_workers_filter_an_array_that_fits_into_none_of_them() -> None:
    pytest.importorskip("distributed")
    done = run_python(CLUSTER, environment={"OPENBLAS_NUM_THREADS": "1"})
    assert int(done.stdout) > 0
