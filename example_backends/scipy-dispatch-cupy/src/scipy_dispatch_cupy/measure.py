"""Measure the number of elements from which the GPU is faster than SciPy, on this machine.

    python -m scipy_dispatch_cupy.measure [--largest SIDE] [FUNCTION ...]

Prints how many times faster than SciPy functions are on the GPU, including the transfer to the
GPU and back, for square images of growing size. Also prints the number of elements from which
`cupy-offload` should run.
"""

# ruff: noqa: T201 - it prints what it finds

from __future__ import annotations

import argparse
import statistics
import sys
import time
from importlib import import_module

import numpy as np

from scipy_dispatch import backend_opts
from spatch_core import UnknownBackendError

from ._device import VARIABLE, set_smallest, why_no_cupy, why_no_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SIDES = [64, 91, 128, 181, 256, 362, 512, 724, 1024, 1448, 2048]
FUNCTIONS: dict[str, dict[str, Any]] = {
    "ndimage.sobel": {},
    "ndimage.uniform_filter": {"size": 3},
    "ndimage.gaussian_filter": {"sigma": 2},
    "ndimage.median_filter": {"size": 5},
    "ndimage.zoom": {"zoom": 1.5},
    "signal.medfilt2d": {},
    "fft.fft2": {},
}
"""The measured functions with their arguments.

Some are cheap, so that a GPU gains little, and some are expensive.
"""

_SECONDS = 0.3  # time for the rounds of SciPy, and as much for the GPU
_ROUNDS = 7


def main(arguments: list[str] | None = None) -> int:
    """Measure and print the results.

    Parameters
    ----------
    arguments : list of str, optional
        The command-line arguments; those of the process by default.

    Returns
    -------
    int
        0, or 1 if nothing can be measured.
    """
    parser = argparse.ArgumentParser(
        prog="python -m scipy_dispatch_cupy.measure",
        description=__doc__.splitlines()[0],
        epilog="functions: " + ", ".join(FUNCTIONS),
    )
    parser.add_argument(
        "--largest",
        type=int,
        default=SIDES[-1],
        metavar="SIDE",
        help="of the squares, in elements; %(default)s",
    )
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help="which; all by default")
    options = parser.parse_args(arguments)
    if unknown := [each for each in options.functions if each not in FUNCTIONS]:
        parser.error(f"{', '.join(unknown)} cannot be measured; these can: {', '.join(FUNCTIONS)}")
    sides = [side for side in SIDES if side <= options.largest]
    if not sides:
        parser.error(f"--largest is less than the smallest side, {SIDES[0]}")
    reason = why_no_cupy() or why_no_device()
    if reason:
        print(f"nothing was measured: {reason}", file=sys.stderr)
        return 1
    set_smallest(0)
    try:
        _report(options.functions or list(FUNCTIONS), sides)
    except (NotOnTheGpuError, UnknownBackendError) as error:
        print(f"\n\nnothing was found: {error}", file=sys.stderr)
        return 1
    return 0


class NotOnTheGpuError(Exception):
    """SciPy ran instead of the GPU; the message says why."""


def _report(functions: list[str], sides: list[int]) -> None:
    import cupy
    import scipy

    device = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    device = device.decode() if isinstance(device, bytes) else device
    print(f"{device}, CuPy {cupy.__version__}, SciPy {scipy.__version__}\n")
    print("| elements | " + " | ".join(f"`{name}`" for name in functions) + " |")
    print("|---" * (len(functions) + 1) + "|")
    pays: dict[str, int | None] = dict.fromkeys(functions)
    for side in sides:
        print(f"| {side**2} |", end="", flush=True)
        for name in functions:
            times_faster = _ratio(name, side)
            print(f" {times_faster:.2f} |", end="", flush=True)
            if times_faster <= 1:
                pays[name] = None
            elif pays[name] is None:
                pays[name] = side**2
        print()
    print()
    for name, elements in pays.items():
        if elements is None:
            print(f"{name} does not pay with {sides[-1] ** 2} elements.")
    found = [elements for elements in pays.values() if elements is not None]
    if found:
        others = "The others pay" if None in pays.values() else "All pay"
        print(f"{others} from {max(found)} elements on:\n\n    {VARIABLE}={max(found)}")


def _ratio(name: str, side: int) -> float:
    """Return how many times faster than SciPy a function is on the GPU, for one image size."""
    image = np.random.default_rng(0).random((side, side))
    module, _, function = name.partition(".")
    alone = getattr(import_module(f"scipy.{module}"), function)
    dispatchable = getattr(import_module(f"scipy_dispatch.{module}"), function)
    settings = FUNCTIONS[name]

    def on_gpu() -> Any:
        with backend_opts(prioritize="cupy-offload"):
            return dispatchable(image, **settings)

    # The first call compiles kernels, and its trace shows which backend ran.
    with backend_opts(prioritize="cupy-offload", trace=True) as trace:
        dispatchable(image, **settings)
    event = [each for each in trace if each.backend == "cupy-offload"][-1]
    if event.outcome != "called":
        raise NotOnTheGpuError(event)
    pairs = [(_seconds(lambda: alone(image, **settings)), _seconds(on_gpu)) for _ in range(3)]
    return statistics.median(scipy / gpu for scipy, gpu in pairs)


def _seconds(function: Callable[[], Any]) -> float:
    """Return the shortest time of several calls."""
    rounds: list[float] = []
    while sum(rounds) < _SECONDS and len(rounds) < _ROUNDS:
        start = time.perf_counter()
        function()  # returns only when the result is in host memory
        rounds.append(time.perf_counter() - start)
    return min(rounds)


if __name__ == "__main__":
    sys.exit(main())
