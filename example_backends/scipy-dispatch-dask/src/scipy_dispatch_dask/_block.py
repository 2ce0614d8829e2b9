"""The task for one block: the function of `scipy_dispatch`, called again on the block itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from scipy_dispatch import backend_opts

from ._call import Call
from ._dask import Array, da, dask

Maker: TypeAlias = "str | type[np.ndarray[Any, Any]] | None"

NAME = "dask"

# Larger arguments (in bytes) get a task of their own, so that they are not copied into the task
# of every block.
_LARGE = 4096


@dataclass(frozen=True, eq=False)
class Block:
    """A call without its arrays, which are passed when the block is computed."""

    # The dispatchable function with the options of the call, pickled by reference.
    function: Callable[..., Any]
    # The parameters that take the blocks, in this order.
    arrays: tuple[str, ...]
    arguments: Mapping[str, Any]
    # What converts a block back from NumPy, if Dask may have converted it.
    makers: tuple[Maker, ...]

    @property
    def __name__(self) -> str:
        # Dask uses this name for the tasks.
        return self.function.__name__

    def __call__(self, *blocks: Any, **shared: Any) -> Any:
        restored = map(_restored, blocks, self.makers)
        arrays = dict(zip(self.arrays, restored, strict=True))
        return self.function(**arrays, **self.arguments, **shared)


def block_of(call: Call, *arrays: str) -> tuple[Block, dict[str, Any]]:
    """Return the function for the blocks of the `arrays` of `call`, and its large arguments.

    The function is a small object, sent with the task of every block. Large arguments have a task
    of their own; ``dask.array.map_blocks`` passes their results to the block by name.
    """
    arguments = call.without(*arrays).arguments
    large = {name for name, value in arguments.items() if _n_bytes(value) > _LARGE}
    block = Block(
        for_later(call.function),
        arrays,
        {name: value for name, value in arguments.items() if name not in large},
        tuple(_maker(call[name]._meta) for name in arrays),
    )
    return block, {name: dask.delayed(arguments[name], pure=True) for name in sorted(large)}


def for_later(function: Callable[..., Any]) -> Callable[..., Any]:
    """Freeze the current options into `function`, without this backend.

    Blocks are computed later, in other threads or processes, where the caller's ``backend_opts``
    block is not active. A `type` that selects Dask is dropped, because the call on a block would
    come back to this backend. The trace is dropped too, because it would grow as long as the
    graph exists.
    """
    options = backend_opts()
    asks_for_dask = isinstance(options.type, type) and issubclass(options.type, da.Array)
    return backend_opts.freeze(
        function,
        prioritize=[name for name in options.prioritized if name != NAME],
        disable=(*options.disabled, NAME),
        type=None if asks_for_dask else options.type,
    )


def probe(call: Call, *arrays: str, shape: tuple[int, ...] | None = None) -> Any:
    """Run `call` on a small array of ones (by default one element) of the type of the blocks.

    The result has the type and data type that the results of the blocks will have. If the
    implementation rejects an argument, its exception is raised immediately instead of when the
    result is computed.
    """
    few = {name: ones(call[name], shape) for name in arrays}
    return for_later(call.function)(**call.replaced(**few).arguments)


def ones(x: Array, shape: tuple[int, ...] | None = None) -> Any:
    """Return a small array of ones of the type of the blocks of `x`."""
    if shape is None:
        shape = x.shape if 0 in x.shape else (1,) * x.ndim
    maker = _maker(x._meta)
    if isinstance(maker, str):
        return import_module(maker).ones(shape, dtype=x.dtype)
    return np.ones_like(x._meta, shape=shape)


def meta_of(result: Any) -> Any:
    """Return an empty array of the type of `result`, which Dask calls its meta."""
    return result[(slice(0, 0),) * result.ndim]


def why_not_numpy(x: Any, name: str) -> str | None:
    """Return why the blocks of the argument `name` are not NumPy arrays; None if they are.

    Subclasses are rejected, because they may redefine the operations that are applied to blocks.
    Masked arrays are accepted, because their masks are removed.
    """
    kind = type(getattr(x, "_meta", x))
    if kind in (np.ndarray, np.memmap) or is_masked(x) or not hasattr(x, "dtype"):
        return None
    return (
        f"the blocks of {name}= are of the type {kind.__module__}.{kind.__qualname__}, and "
        "this works on NumPy arrays"
    )


def is_masked(x: Any) -> bool:
    """Return whether `x` is a masked array, or a Dask array with masked blocks."""
    return isinstance(getattr(x, "_meta", x), np.ma.MaskedArray)


def unmasked(x: Any) -> Any:
    """Return `x` without its mask, which SciPy ignores too."""
    if not is_masked(x):
        return x
    if isinstance(x, np.ndarray):
        return np.asarray(x)
    return x.map_blocks(np.asarray, dtype=x.dtype, meta=np.asarray(x._meta))


def why_not_unmasked(x: Any, name: str) -> str | None:
    """Return a reason if the argument `name` is masked, where SciPy keeps the mask; else None."""
    return f"{name}= is masked, and SciPy keeps the mask in the result" if is_masked(x) else None


def _n_bytes(value: Any) -> int:
    """Return the size of an array in bytes; 0 for any other value, data types included."""
    size = getattr(value, "nbytes", 0)
    return size if isinstance(size, int) else 0


def _maker(meta: Any) -> Maker:
    """Return what converts NumPy arrays to the type of `meta`; None if Dask preserves that type.

    Dask concatenates blocks with NumPy's functions. They preserve types that implement
    ``__array_function__``, such as CuPy's, and convert other types to NumPy arrays: types of the
    array API, for which this function returns the name of their module (such as
    ``"jax.numpy"``), and subclasses of `numpy.ndarray`, which it returns themselves.
    """
    kind = type(meta)
    if isinstance(meta, np.ndarray):
        keeps = kind is np.ndarray or kind.__array_function__ is not np.ndarray.__array_function__
        return None if keeps else kind
    if hasattr(kind, "__array_function__") or not hasattr(meta, "__array_namespace__"):
        return None
    name: str = meta.__array_namespace__().__name__
    return name


def _restored(block: Any, maker: Maker) -> Any:
    """Convert `block` back to the type that Dask's metadata declares."""
    if maker is None or type(block) is not np.ndarray:
        return block
    if isinstance(maker, str):
        return import_module(maker).asarray(block)
    return block.view(maker)
