"""From how many elements on the GPU pays for NumPy arrays: square images of growing size.

    python benchmarks/threshold.py [--largest SIDE]

Prints, for a real GPU, how many times faster than SciPy each function is when its arrays go
to the GPU and back, transfers and all, and from which size on the cheapest of them wins.
That number belongs into `scipy_dispatch_cupy._device.SMALLEST`, with the device's name.
"""

# ruff: noqa: T201 - it prints what it finds

from __future__ import annotations

import argparse
import statistics
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import scipy_dispatch_cupy
from scipy_dispatch import backend_opts
from scipy_dispatch_cupy._device import why_no_cupy, why_no_device

if TYPE_CHECKING:
    from collections.abc import Callable

SIDES = [64, 128, 181, 256, 362, 512, 724, 1024, 2048, 4096]
CASES: list[tuple[str, dict[str, Any]]] = [
    ("ndimage.sobel", {}),
    ("ndimage.uniform_filter", {"size": 3}),
    ("ndimage.gaussian_filter", {"sigma": 2}),
    ("ndimage.median_filter", {"size": 5}),
    ("ndimage.zoom", {"zoom": 1.5}),
    ("fft.fft2", {}),
    ("signal.medfilt2d", {}),
]


def seconds(function: Callable[[], Any]) -> float:
    """Return the time of one call: the least of a few rounds."""
    rounds = []
    for _ in range(5):
        start = time.perf_counter()
        function()  # ends when the result is in the memory of the host
        rounds.append(time.perf_counter() - start)
    return min(rounds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=SIDES[-1])
    options = parser.parse_args()
    reason = why_no_cupy() or why_no_device()
    if reason:
        print(f"nothing was measured: {reason}")
        return 1
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    print(f"{name.decode() if isinstance(name, bytes) else name}, CuPy {cupy.__version__}\n")
    scipy_dispatch_cupy.set_smallest(0)
    print("| elements | " + " | ".join(f"`{name}`" for name, _ in CASES) + " |")
    print("|---" * (len(CASES) + 1) + "|")
    pays = None
    for side in [each for each in SIDES if each <= options.largest]:
        ratios = [ratio(name, settings, side) for name, settings in CASES]
        print(f"| {side**2} | " + " | ".join(f"{each:.2f}" for each in ratios) + " |", flush=True)
        if min(ratios) < 1:
            pays = None
        elif pays is None:
            pays = side**2
    print(f"\nAll of them pay from {pays} elements on." if pays else "\nNot all of them pay.")
    return 0


def ratio(name: str, settings: dict[str, Any], side: int) -> float:
    """Return how many times faster than SciPy a function is on an image."""
    module, _, function = name.partition(".")
    image = np.random.default_rng(0).random((side, side))
    scipy_function = getattr(import_module(f"scipy.{module}"), function)
    dispatchable = getattr(import_module(f"scipy_dispatch.{module}"), function)

    def alone() -> Any:
        return scipy_function(image, **settings)

    def on_gpu() -> Any:
        with backend_opts(prioritize="cupy-offload"):
            return dispatchable(image, **settings)

    with backend_opts(prioritize="cupy-offload"):
        explanation = dispatchable.explain(image, **settings)
    if explanation.selected != "cupy-offload":
        raise SystemExit(f"not on the GPU:\n{explanation}")
    on_gpu()  # the first call compiles kernels
    pairs = [(seconds(alone), seconds(on_gpu)) for _ in range(3)]
    return statistics.median(first / second for first, second in pairs)


if __name__ == "__main__":
    sys.exit(main())
