"""NumPy in, NumPy out: deciding whether to run, moving arrays to the GPU and results back."""

from __future__ import annotations

import numpy as np

from .._arrays import compute
from .._backends import offload as backend
from .._call import Call, cupyx_function
from .._device import first_line, smallest, why_no_cupy, why_no_device, why_too_large
from .._implement import implement, names_of
from .._limits import why_not
from .._rules import arrays_of, is_array
from .._signals import BY_TRANSFORMS, is_product
from .._warning import warn_caller
from ._result import as_scipy_returns_it, result_size
from ._table import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spatch_core import DispatchContext


def should_run(context: DispatchContext, *args: Any, **kwargs: Any) -> bool | str:
    """Decide whether the GPU supports the call and is worth using.

    CuPy is imported only for an array that is large enough.

    Returns
    -------
    bool or str
        True, or the reason why not.
    """
    # Check the size first, because most calls are small and must cost next to nothing.
    arrays = [each for each in context.dispatch_args if isinstance(each, np.ndarray)]
    size = max((each.size for each in arrays), default=0)
    if size < smallest():
        return f"{size} elements are too few: the GPU is asked from {smallest()} on"
    missing = why_no_cupy() or why_no_device()
    if missing:
        return missing
    module, name = names_of(context.function)
    try:
        cupyx_function(module, name)
    except Exception as error:  # noqa: BLE001 - a broken installation fails in many ways
        return f"CuPy cannot run this here: {first_line(error)}"
    try:
        call = Call.bind(module, name, args, kwargs)
        return (
            why_not(call)
            or _why_not_offload(call)
            or why_too_large(_nbytes(call))
            or _why_not_finite(call)
            or True
        )
    except Exception as error:  # noqa: BLE001 - rules raise any exception for invalid arguments
        return f"the arguments are for SciPy to judge: {first_line(error)}"


def _why_not_offload(call: Call) -> str | None:
    for name in call.arrays:
        value = call[name]
        if name == "output" and isinstance(value, np.ndarray) and not value.flags.writeable:
            return "output= is read-only"
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
            return f"{name}= is a {type(value).__name__}, of which only SciPy knows what to make"
    if call["return_distances"] is False:
        return "without distances there is nothing to return"
    if call["return_indices"]:
        return "where several elements are equally near, CuPy may find another than SciPy"
    if call["distances"] is not None or call["indices"] is not None:
        return "distances= and indices= are filled by SciPy"
    if callable(call["type"]) or callable(call["window"]):
        return "a Python function would be called with arrays of the GPU"
    if is_array(call["window"]) or isinstance(call["window"], list):
        return "window= is an array, or a list, on whose type SciPy's result depends"
    if call.name == "resample_poly" and np.asarray(call["x"]).dtype.kind in "biu":
        return "which type SciPy makes of whole numbers depends on its release"
    if call.name == "resample" and call["t"] is not None:
        return "t= makes for a second result"
    if call.name in BY_TRANSFORMS and is_product(call):
        return "along axes of one element each there is nothing to transform"
    return None


def _why_not_finite(call: Call) -> str | None:
    for name, value in call.given.items():
        if name in ("output", "cval"):  # other rules cover these
            continue
        # This check takes about a tenth of the time that the transfer to the GPU takes.
        numbers = np.asarray(value)
        if numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
            return f"{name}= has NaN or infinity, which reach other elements with CuPy"
    return None


def _nbytes(call: Call) -> int:
    """Return the size in bytes of the largest array or the result, in double precision."""
    given = [arrays_of(call[name]) for name in call.arrays]
    largest: int = max(sum(each.size for each in arrays) for arrays in given)
    return max(largest, result_size(call)) * (16 if call.module == "fft" else 8)


def implement_all(module: str, namespace: dict[str, Any]) -> None:
    """Add an implementation of every function of `module` in the table to `namespace`.

    Parameters
    ----------
    module : str
        ``"ndimage"``, ``"signal"`` or ``"fft"``.
    namespace : dict
        The globals of the module that holds the implementations.
    """
    docs = "NumPy arrays in, NumPy arrays out, computed on the GPU."
    for name in sorted(TABLE[module]):
        implement(module, name, namespace, backend, should_run, _run, docs)


def _run(call: Call) -> Any:
    output = call["output"]
    try:
        # `compute` fills `output` last, so that it is unchanged after an error.
        result = compute(call)
        if not is_array(output):
            return as_scipy_returns_it(result.get(), call)
    except Exception as error:  # noqa: BLE001 - SciPy may still compute the result
        _tell(error, call)
        # If CuPy rejected the arguments, SciPy computes the result or raises its own error.
        return NotImplemented
    return None if call.name in _RETURN_NOTHING else output


_RETURN_NOTHING = {"binary_fill_holes", "binary_hit_or_miss"}


def _tell(error: Exception, call: Call) -> None:
    """Warn about an error that is not caused by the arguments of the call."""
    import cupy

    said = first_line(error)
    if _is_out_of_memory(error):
        # The user should know why the call takes long or fails.
        warn_caller(f"cupy-offload leaves {call.name}, the GPU is out of memory: {said}")
        cupy.get_default_memory_pool().free_all_blocks()
    elif _is_of_cuda(error):
        reason = f"{type(error).__name__}: {said}"
        if reason not in _told:
            _told.add(reason)
            warn_caller(f"cupy-offload leaves {call.name}, CuPy fails here: {reason}")


_told: set[str] = set()


def _is_of_cuda(error: Exception) -> bool:
    """Return whether the error comes from the installation, the driver or a kernel."""
    package = type(error).__module__.partition(".")[0]
    if package.startswith("cupy") or isinstance(error, ImportError | OSError):
        return True
    return isinstance(error, RuntimeError) and any(
        each in str(error).lower() for each in ("cuda", "nvrtc")
    )


def _is_out_of_memory(error: Exception) -> bool:
    """Return whether the device ran out of memory, as reported by any CUDA library."""
    import cupy

    if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
        return True
    return any(each in str(error) for each in ("cudaErrorMemoryAllocation", "CUFFT_ALLOC_FAILED"))
