"""Whether there is a GPU to compute on, from how many elements on it pays, and what fits it."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.util import find_spec

from ._warning import warn_caller

SMALLEST = 2**18
"""Arrays with fewer elements are not worth the way to the GPU and back.

An estimate, for machines on which `scipy_dispatch_cupy.measure` was not run: memory that is not
pinned crosses PCI Express at about 6 GB/s, so that 8 bytes there and 8 bytes back cost
2.7 ns an element, and SciPy's cheap filters take 10 to 20 ns an element on one core. What
remains must pay for 0.1 to 0.5 ms of allocations, launches and synchronization, which is so
from about 50,000 elements on. Five times that, so that a GPU that is slower than assumed, or
busy, does not lose. The first call of a process costs more: it loads CUDA, and compiles
kernels, which are kept on disk.
"""

VARIABLE = "SCIPY_DISPATCH_CUPY_SMALLEST"
_COPIES = 5  # inputs, results, and what functions need besides, as multiples of the largest

_chosen: int | None = None


def smallest() -> int:
    """Return from how many elements on NumPy arrays are computed on the GPU.

    Returns
    -------
    int
        What `set_smallest` was told, else the environment's ``SCIPY_DISPATCH_CUPY_SMALLEST``,
        else an estimate.
    """
    if _chosen is not None:
        return _chosen
    return _from_environment(os.environ.get(VARIABLE, ""))


@lru_cache(maxsize=1)
def _from_environment(text: str) -> int:
    if text.strip().isdecimal():
        return int(text)
    if text.strip():
        warn_caller(f"{VARIABLE}={text!r} is no number of elements; {SMALLEST} is used")
    return SMALLEST


def set_smallest(elements: int | None) -> None:
    """Set from how many elements on NumPy arrays are computed on the GPU.

    Parameters
    ----------
    elements : int or None
        0 for all; None for the environment's, or the estimate.

    Raises
    ------
    ValueError
        If it is negative.

    Examples
    --------
    >>> import scipy_dispatch_cupy
    >>> scipy_dispatch_cupy.set_smallest(10_000)
    >>> scipy_dispatch_cupy.smallest()
    10000
    >>> scipy_dispatch_cupy.set_smallest(None)
    """
    global _chosen  # noqa: PLW0603 - one setting for the process
    if elements is not None and elements < 0:
        raise ValueError(f"elements must be 0 or more, not {elements}")
    _chosen = elements


@lru_cache(maxsize=1)
def why_no_cupy() -> str | None:
    """Say why CuPy cannot be imported, without importing it; None if it is installed.

    Found once in a process: it takes a look at every folder that Python imports from.
    """
    if find_spec("cupy") is None:
        return "CuPy is not installed: pip install 'scipy-dispatch-cupy[cuda12]', say"
    return None


def why_no_device() -> str | None:
    """Say why there is no GPU to compute on; None if there is one. Imports CuPy."""
    # A process that was forked off one that uses the GPU cannot use it.
    return _why_no_device(os.getpid())


@lru_cache(maxsize=1)
def _why_no_device(process: int) -> str | None:
    try:
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
    except ImportError as error:
        return f"CuPy cannot be imported: {first_line(error)}"
    except Exception as error:  # noqa: BLE001 - drivers fail in many ways, and all mean this
        return f"CuPy finds no GPU: {first_line(error)}"
    return None if count else "CuPy finds no GPU"


def why_too_large(nbytes: int) -> str | None:
    """Say why arrays of so many bytes do not fit the GPU; None if they should.

    Parameters
    ----------
    nbytes : int
        Of the largest array, in the precision that is computed in.
    """
    import cupy

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    needed = _COPIES * nbytes
    if needed <= free:
        return None
    return (
        f"the GPU has {free / 2**20:.0f} MiB free, and the call may need {needed / 2**20:.0f} MiB"
    )


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says, or its class."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
