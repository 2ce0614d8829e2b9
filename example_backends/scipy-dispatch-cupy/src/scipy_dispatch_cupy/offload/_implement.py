"""NumPy in, NumPy out: whether it should run, the way to the GPU, and the way back."""

from __future__ import annotations

import math
import warnings

import numpy as np

from .._arrays import compute
from .._backends import offload as backend
from .._call import Call, cupyx_function
from .._device import smallest, why_no_cupy, why_no_device, why_too_large
from .._implement import implement, names_of, short
from .._limits import why_not
from .._rules import is_array
from ._table import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spatch_core import DispatchContext


def should_run(context: DispatchContext, *args: Any, **kwargs: Any) -> bool | str:
    """Say whether the GPU can do what was asked for, and is worth it.

    CuPy is imported only for an array that is large enough.

    Returns
    -------
    bool or str
        True, or the reason why not.
    """
    # The size first: most calls are small, and are to cost next to nothing.
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
    except ImportError as error:
        return f"CuPy cannot run this here: {short(error)}"
    try:
        call = Call.bind(module, name, args, kwargs)
        return why_not(call) or _why_not_offload(call) or why_too_large(_nbytes(call)) or True
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        return f"the arguments are for SciPy to judge: {short(error)}"


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
    if is_array(call["window"]):
        return "window= is an array, on whose type SciPy's result depends"
    if call.name == "resample_poly" and np.asarray(call["x"]).dtype.kind in "biu":
        return "which type SciPy makes of whole numbers depends on its release"
    if call.name == "resample" and call["t"] is not None:
        return "t= makes for a second result"
    if call.name in ("fftconvolve", "oaconvolve") and _only_products(call):
        return "along axes of one element each there is nothing to transform"
    return None


def _only_products(call: Call) -> bool:
    """Whether there is no axis to transform along, so that SciPy multiplies, also integers."""
    shapes = np.shape(call["in1"]), np.shape(call["in2"])
    axes = range(len(shapes[0])) if call["axes"] is None else np.atleast_1d(call["axes"])
    return all(1 in (each[axis] for each in shapes) for axis in axes)


def _nbytes(call: Call) -> int:
    """Return the bytes of the largest array in double precision, the result among them."""
    given = [call[name] for name in call.arrays]
    largest: int = max(each.size for each in given if isinstance(each, np.ndarray))
    return max(largest, _result_size(call)) * (16 if call.module == "fft" else 8)


def _result_size(call: Call) -> int:
    """Return how many elements the result has, or a little more."""
    x = np.asarray(call[call.first])
    if call.name == "zoom":
        factors = np.broadcast_to(np.asarray(call["zoom"], float), (x.ndim,))
        return math.prod(map(round, x.shape * factors))
    if call.name == "rotate":
        return 2 * x.size if call["reshape"] else x.size
    if call["output_shape"] is not None:
        return int(math.prod(call["output_shape"]))
    if call["in2"] is not None:
        other = np.shape(call["in2"])
        return math.prod(int(a + b) for a, b in zip(x.shape, other, strict=False))
    if call.name in ("upfirdn", "resample_poly"):
        return int(np.size(call["x"]) * call["up"] / call["down"]) + 1
    if call["num"] is not None:  # resample
        return int(x.size // x.shape[call["axis"]] * call["num"])
    lengths = [each for each in (call["s"], call["n"], call["N"]) if each is not None]
    if lengths:
        return _transformed(x.shape, np.atleast_1d(lengths[0]), call)
    # The inverse transform of half a spectrum has twice its length.
    return 2 * x.size if call.module == "fft" else x.size


def _transformed(shape: tuple[int, ...], lengths: Any, call: Call) -> int:
    axes = call["axes"] if call["axis"] is None else call["axis"]
    axes = range(-len(lengths), 0) if axes is None else np.atleast_1d(axes)
    new = list(shape)
    for axis, length in zip(axes, lengths, strict=False):
        new[axis] = int(length)
    return 2 * math.prod(new)  # half of a transform of real numbers is not stored


def implement_all(module: str, namespace: dict[str, Any]) -> None:
    """Put an implementation of every function of `module` in the table into `namespace`.

    Parameters
    ----------
    module : str
        ``"ndimage"``, ``"signal"`` or ``"fft"``.
    namespace : dict
        The global names of the module that holds the implementations.
    """
    docs = "NumPy arrays in, NumPy arrays out, computed on the GPU."
    for name in sorted(TABLE[module]):
        implement(module, name, namespace, backend, should_run, _run, docs)


def _run(call: Call) -> Any:
    import cupy

    output = call["output"]
    try:
        result = compute(call)  # which fills output= when all else is done
        if not is_array(output):
            return _as_scipy_returns_it(result.get(), call)
    except Exception as error:
        if _is_out_of_memory(error):
            # Whoever asked wants the result, and to know why it took long.
            warnings.warn(
                f"SciPy computes {call.name} after all, the GPU is out of memory: {short(error)}",
                RuntimeWarning,
                stacklevel=3,
            )
            cupy.get_default_memory_pool().free_all_blocks()
        elif type(error) not in _REFUSALS:
            raise
        # What CuPy refuses is for SciPy to compute, or to refuse in its own words.
        return NotImplemented
    return None if call.name == "binary_hit_or_miss" else output


_REFUSALS = {TypeError, ValueError, RuntimeError, NotImplementedError, np.exceptions.AxisError}


def _is_out_of_memory(error: Exception) -> bool:
    """Whether the device has too little memory, whichever library of CUDA says so."""
    import cupy

    if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
        return True
    return any(each in str(error) for each in ("cudaErrorMemoryAllocation", "CUFFT_ALLOC_FAILED"))


def _as_scipy_returns_it(result: np.ndarray, call: Call) -> np.ndarray:
    """Return the result with SciPy's data type."""
    if call["output"] is not None and not call.is_default("output"):
        return result.astype(np.dtype(call["output"]), copy=False)
    dtypes = [np.asarray(call[name]).dtype for name in _operands(call)]
    return result.astype(TABLE[call.module][call.name](*dtypes), copy=False)


def _operands(call: Call) -> list[str]:
    """Return the arrays whose types decide on the result's: of filters the image alone."""
    names = {"in1", "in2", "h", "x"} if call.module == "signal" else {call.first}
    found = [name for name in call.arrays if name in names and call[name] is not None]
    return found or [call.first]
