"""The device: whether there is a GPU, how large arrays must be to use it, and whether they fit."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.util import find_spec

from ._warning import warn_caller

SMALLEST = 2**18
"""The smallest number of elements for which moving an array to the GPU and back is worthwhile.

This is an estimate for machines on which `scipy_dispatch_cupy.measure` was not run. Memory that
is not pinned crosses PCI Express at about 6 GB/s, so that 8 bytes each way cost 2.7 ns an
element. SciPy's cheap filters take 10 to 20 ns an element on one core. The difference must
outweigh 0.1 to 0.5 ms of allocations, launches and synchronization, which it does from about
50,000 elements on. The value is five times that, so that a slower or busy GPU does not lose.
The first call of a process takes longer: it loads CUDA and compiles kernels, which are cached on
disk.
"""

VARIABLE = "SCIPY_DISPATCH_CUPY_SMALLEST"
# Estimated memory for inputs, results and temporary arrays, in sizes of the largest array.
_COPIES = 5

_chosen: int | None = None


def smallest() -> int:
    """Return the smallest number of elements for which NumPy arrays are computed on the GPU.

    Returns
    -------
    int
        The value given to `set_smallest`, else that of the environment variable
        ``SCIPY_DISPATCH_CUPY_SMALLEST``, else an estimate.
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
    """Set the smallest number of elements for which NumPy arrays are computed on the GPU.

    Parameters
    ----------
    elements : int or None
        0 selects all arrays; None restores the environment variable or the estimate.

    Raises
    ------
    ValueError
        If the number is negative.

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
    """Return why CuPy cannot be imported, without importing it; None if it is installed.

    The answer is cached, because finding it searches every folder on Python's path.
    """
    if find_spec("cupy") is None:
        return "CuPy is not installed: pip install 'scipy-dispatch-cupy[cuda12]', say"
    return None


def why_no_device() -> str | None:
    """Return why there is no GPU to compute on; None if there is one. Imports CuPy."""
    # The process id is part of the key: a child forked from a process that uses the GPU cannot
    # use it.
    return _why_no_device(os.getpid())


@lru_cache(maxsize=1)
def _why_no_device(process: int) -> str | None:
    try:
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
    except ImportError as error:
        return f"CuPy cannot be imported: {first_line(error)}"
    except Exception as error:  # noqa: BLE001 - drivers raise many classes of exceptions
        return f"CuPy finds no GPU: {first_line(error)}"
    return None if count else "CuPy finds no GPU"


def why_too_large(nbytes: int) -> str | None:
    """Return why arrays of `nbytes` bytes do not fit on the GPU; None if they should.

    Parameters
    ----------
    nbytes : int
        The size of the largest array, in the precision of the computation.
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
    """Return the first line of an exception's message, or its class if it has none."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
