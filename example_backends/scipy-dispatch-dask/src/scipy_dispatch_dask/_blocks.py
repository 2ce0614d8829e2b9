"""Blocks: what a call needs of its arrays, how these are cut, and the call again on each block."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import prod
from typing import Any, TypeAlias

import dask
import dask.array as da
import numpy as np
from dask.array import Array
from dask.utils import parse_bytes

from scipy_dispatch import backend_opts
from scipy_dispatch.calls import BoundCall
from scipy_dispatch.reach import Reaches


def dispatchable(identifier: str) -> Callable[..., Any]:
    """Return the function that an identifier names, such as ``"scipy_dispatch.ndimage:sobel"``."""
    module, _, name = identifier.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def kept(call: BoundCall) -> BoundCall:
    """Return a call with copies of its arrays, which the caller cannot change."""
    return BoundCall(call.function, {name: _copied(each) for name, each in call.arguments.items()})


def is_dask_array(value: Any) -> bool:
    """Return whether `value` is a Dask array."""
    return isinstance(value, da.Array)


def is_lazy_number(value: Any) -> bool:
    """Return whether `value` is a number not yet computed: a Dask array without dimensions."""
    return is_dask_array(value) and value.ndim == 0


def holds_dask_array(value: Any) -> bool:
    """Return whether `value` is a Dask array, or a list or tuple that contains one."""
    if isinstance(value, list | tuple):
        return any(map(holds_dask_array, value))
    return is_dask_array(value)


def has_unknown_chunks(x: Array) -> bool:
    """Return whether some axis of `x` has a length that only computing it would show."""
    return any(math.isnan(length) for length in x.shape)


def _copied(value: Any) -> Any:
    """Return `value` with copies of all NumPy arrays in it, in C order.

    Dask names arrays by hashing their bytes in memory order, which are the same for an array and
    its transpose.
    """
    if isinstance(value, np.ma.MaskedArray):
        return value.copy(order="C")
    if isinstance(value, np.ndarray):
        return np.array(value, order="C", subok=not isinstance(value, np.memmap))
    if type(value) is dict:
        return {key: _copied(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    return value


def without_empty_chunks(x: Array) -> Array:
    """Remove the empty chunks of `x`; an empty array keeps one along each axis.

    SciPy rejects some empty arrays, and Dask cannot rechunk some arrays that begin with an empty
    chunk.
    """
    for axis, sizes in enumerate(x.chunks):
        kept = [index for index, size in enumerate(sizes) if size] or [0]
        if len(kept) < len(sizes):
            x = x.blocks[tuple([slice(None)] * axis + [kept])]
    return x


def without_small_chunks(x: Array, depths: Mapping[int, int]) -> Array:
    """Rechunk `x` so that along each axis the adjacent block alone provides the halo.

    `depths` are those of the halo by axis. Only an empty array may have empty chunks.
    """
    if 0 in x.shape:
        return x.rechunk(x.shape)
    return x.rechunk({axis: _merged(x.chunks[axis], depth) for axis, depth in depths.items()})


def with_whole_lines(
    x: Array, axes: Collection[int], cuts: Mapping[int, int] | None = None
) -> Array:
    """Rechunk `x` so that each line along `axes` is in one chunk.

    `cuts` are the chunk lengths of other axes, by axis. By default they stay as they are. If the
    blocks would then be larger than before and larger than Dask's ``array.chunk-size``, Dask
    chooses the chunks.
    """
    whole = dict.fromkeys(axes, -1)
    lines = x.rechunk({**(cuts or {}), **whole})
    limit = max(_largest_block(x), parse_bytes(dask.config.get("array.chunk-size")))
    if _largest_block(lines) <= limit or len(whole) == x.ndim:
        return lines
    others = dict.fromkeys(set(range(x.ndim)).difference(axes), "auto")
    return x.rechunk({**whole, **others}, block_size_limit=limit)


def _largest_block(x: Array) -> int:
    """Return the size of the largest block in bytes."""
    elements: int = prod(map(max, x.chunks))
    return elements * int(x.dtype.itemsize)


def _merged(sizes: tuple[int, ...], depth: int) -> tuple[int, ...]:
    """Merge adjacent chunks until each is at least `depth` long."""
    if min(sizes) >= depth:
        return sizes
    merged = []
    size = 0
    for each in sizes:
        size += each
        if size >= depth:
            merged.append(size)
            size = 0
    if not merged:
        return (size,)
    merged[-1] += size
    return tuple(merged)


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


def block_of(call: BoundCall, *arrays: str) -> tuple[Block, dict[str, Any]]:
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
    kept = backend_opts(
        prioritize=[name for name in options.prioritized if name != NAME],
        disable=(*options.disabled, NAME),
        type=None if asks_for_dask else options.type,
    )
    return kept.freeze(function)


def probe(call: BoundCall, *arrays: str, shape: tuple[int, ...] | None = None) -> Any:
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


def map_with_halo(
    block: Callable[..., Any],
    arrays: Sequence[Array],
    reaches: Reaches,
    meta: Any,
    shared: Mapping[str, Any],
) -> Array:
    """Apply `block` to each block of `arrays` with its halo, and remove the halo again.

    The arrays have one shape; chunks smaller than the halo are merged with adjacent chunks. The
    result has the type of `meta`, and `shared` are lazy arguments of every call of `block`.

    A block at an end of the array gets no halo at that end, unless the axis is periodic. There
    SciPy itself extends the block with the boundary mode, as it would extend the whole array. At
    the other ends of a block, SciPy's extension affects the halo only, which is removed.
    """
    halos = {axis: reach for axis, reach in enumerate(reaches) if reach is None or reach.radius}
    depths = {
        axis: max(arrays[0].shape[axis], 1) if reach is None else reach.radius
        for axis, reach in halos.items()
    }
    first = without_small_chunks(arrays[0], depths)
    chunked = [first, *(array.rechunk(first.chunks) for array in arrays[1:])]
    depth = {axis: deep if first.numblocks[axis] > 1 else 0 for axis, deep in depths.items()}
    boundary = {
        axis: "periodic" if reach and reach.wraps else "none" for axis, reach in halos.items()
    }
    return da.map_overlap(
        block, *chunked, depth=depth, boundary=boundary, meta=meta, dtype=meta.dtype, **shared
    )


def map_with_history(
    block: Callable[..., Any],
    x: Array,
    depths: Mapping[int, int],
    meta: Any,
    shared: Mapping[str, Any],
) -> Array:
    """Apply `block` to each block of `x`, extended by the elements before it, of number `depths`.

    The first block is not extended.
    """
    x = without_small_chunks(x, depths)
    depth = {axis: (deep if x.numblocks[axis] > 1 else 0, 0) for axis, deep in depths.items()}
    return da.map_overlap(
        block, x, depth=depth, boundary="none", meta=meta, dtype=meta.dtype, **shared
    )
