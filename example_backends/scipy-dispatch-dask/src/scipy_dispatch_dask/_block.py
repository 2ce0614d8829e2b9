"""The work on one block: `scipy_dispatch`'s own function again, for the block's own type."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import numpy as np

from scipy_dispatch import backend_opts

from ._dask import Array, da, dask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from ._call import Call

    Maker: TypeAlias = "str | type[np.ndarray[Any, Any]] | None"

NAME = "dask"

# Arguments with more bytes are sent once to every worker, not with every block.
_LARGE = 4096


@dataclass(frozen=True, eq=False)
class Block:
    """A call that waits for its arrays.

    Parameters
    ----------
    function : callable
        The dispatchable, under the options of the call; pickled by reference.
    arrays : tuple of str
        The parameters that take the blocks, in the order in which these come.
    arguments : mapping
        The other arguments, but for those that come with every call.
    makers : tuple of str, type or None
        For each array what makes blocks of NumPy arrays, where Dask may have made these.
    """

    function: Callable[..., Any]
    arrays: tuple[str, ...]
    arguments: Mapping[str, Any]
    makers: tuple[Maker, ...]

    @property
    def __name__(self) -> str:
        # Dask names tasks after it.
        return self.function.__name__

    def __call__(self, *blocks: Any, **shared: Any) -> Any:
        restored = map(_restored, blocks, self.makers)
        arrays = dict(zip(self.arrays, restored, strict=True))
        return self.function(**arrays, **self.arguments, **shared)


def block_of(call: Call, *arrays: str) -> tuple[Block, dict[str, Any]]:
    """Return what `call` does to the blocks of its `arrays`, and what it shares among them.

    Returns
    -------
    Block
        What is sent with the task of every block, and so is small.
    dict
        Large arguments by name, each with a task of its own: for ``dask.array.map_blocks``,
        which passes their results.
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
    """Freeze the options that are in force now into `function`, without this backend.

    Blocks are worked on later, in other threads or processes, where the caller's
    ``backend_opts`` block is not in force. A `type` that asks for Dask is left behind, or
    blocks would come back here, and so is the trace, which would grow for as long as the
    graph lives.
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
    """Run `call` on a few ones of the type that the blocks have.

    So the result's type and data type are those of what will work on the blocks, and so are
    the errors for arguments that it refuses, which come at once and not when the result is
    computed.

    Parameters
    ----------
    call : Call
        The call.
    *arrays : str
        The parameters that hold Dask arrays.
    shape : tuple of int, optional
        How many ones; one by default, or none if the array has none.
    """
    few = {name: ones(call[name], shape) for name in arrays}
    return for_later(call.function)(**call.replaced(**few).arguments)


def ones(x: Array, shape: tuple[int, ...] | None = None) -> Any:
    """Return a few ones of the type of the blocks of `x`."""
    if shape is None:
        shape = x.shape if 0 in x.shape else (1,) * x.ndim
    maker = _maker(x._meta)
    if isinstance(maker, str):
        return import_module(maker).ones(shape, dtype=x.dtype)
    return np.ones_like(x._meta, shape=shape)


def meta_of(result: Any) -> Any:
    """Return an empty array like `result`, which is what Dask calls its meta."""
    return result[(slice(0, 0),) * result.ndim]


def why_not_numpy(x: Any, name: str) -> str | None:
    """Say that the blocks of the argument `name` are no NumPy arrays; None if they are.

    Subclasses are none, but for masked arrays, whose masks are taken off: they may do otherwise
    what is done with their blocks here.
    """
    kind = type(getattr(x, "_meta", x))
    if kind in (np.ndarray, np.memmap) or is_masked(x) or not hasattr(x, "dtype"):
        return None
    return (
        f"the blocks of {name}= are of the type {kind.__module__}.{kind.__qualname__}, and "
        "this works on NumPy arrays"
    )


def is_masked(x: Any) -> bool:
    """Whether `x` is a masked array, or a Dask array of such blocks."""
    return isinstance(getattr(x, "_meta", x), np.ma.MaskedArray)


def unmasked(x: Any) -> Any:
    """Return `x` without its mask, of which SciPy takes no notice either."""
    if not is_masked(x):
        return x
    if isinstance(x, np.ndarray):
        return np.asarray(x)
    return x.map_blocks(np.asarray, dtype=x.dtype, meta=np.asarray(x._meta))


def why_not_unmasked(x: Any, name: str) -> str | None:
    """Say that SciPy would keep the mask of the argument `name`; None if it has none."""
    return f"{name}= is masked, and SciPy keeps the mask in the result" if is_masked(x) else None


def _n_bytes(value: Any) -> int:
    """Return the size of an array; 0 for anything else, data types among them."""
    size = getattr(value, "nbytes", 0)
    return size if isinstance(size, int) else 0


def _maker(meta: Any) -> Maker:
    """Return what makes arrays like `meta` of NumPy arrays; None where Dask keeps them.

    Dask puts blocks together with NumPy's functions. These keep arrays that take part in
    ``__array_function__``, such as CuPy's, and make NumPy arrays of others: those of the array
    API, which know the module that makes them (such as ``"jax.numpy"``), and subclasses.
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
    """Return `block` as the type that Dask was told it is."""
    if maker is None or type(block) is not np.ndarray:
        return block
    if isinstance(maker, str):
        return import_module(maker).asarray(block)
    return block.view(maker)
