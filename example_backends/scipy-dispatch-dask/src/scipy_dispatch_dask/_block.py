"""The work on one block: `scipy_dispatch`'s own function again, for the block's own type."""

from __future__ import annotations

from contextvars import Context
from dataclasses import dataclass

import numpy as np

from scipy_dispatch import backend_opts

from ._dask import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ._call import Call

NAME = "dask"


@dataclass(frozen=True, eq=False)
class Block:
    """A call that waits for its arrays.

    Parameters
    ----------
    function : callable
        The dispatchable, under the dispatch state of the call; pickled by reference.
    arrays : tuple of str
        The parameters that take the blocks, in the order in which these come.
    arguments : mapping
        The other arguments.
    """

    function: Callable[..., Any]
    arrays: tuple[str, ...]
    arguments: Mapping[str, Any]

    @property
    def __name__(self) -> str:
        # Dask names tasks after it.
        return self.function.__name__

    def __call__(self, *blocks: Any) -> Any:
        return self.function(**dict(zip(self.arrays, blocks, strict=True)), **self.arguments)


def block_of(call: Call, *arrays: str) -> Block:
    """Return what `call` does to the blocks of its `arrays`."""
    return Block(with_current_backends(call.function), arrays, call.without(*arrays).arguments)


def with_current_backends(function: Callable[..., Any]) -> Callable[..., Any]:
    """Freeze the backends that are active now into `function`, without this one.

    Blocks are worked on later, in other threads or processes, where the caller's
    ``backend_opts`` block is not in force. Its `type` is left behind, or blocks would come
    back here, and so is its trace, which would grow for as long as the graph lives.
    """
    options = backend_opts()
    prioritized = tuple(name for name in options.prioritized if name != NAME)
    disabled = (*options.disabled, NAME)

    def freeze() -> Callable[..., Any]:
        return backend_opts(prioritize=prioritized, disable=disabled)(function)

    return Context().run(freeze)


def probe(call: Call, *arrays: str, shape: tuple[int, ...] | None = None) -> Any:
    """Run `call` on a few ones of the type that the blocks have.

    So the result's type and data type are SciPy's, and so are the errors for arguments
    that it refuses, which come at once and not when the result is computed.

    Parameters
    ----------
    call : Call
        The call.
    *arrays : str
        The parameters that hold Dask arrays.
    shape : tuple of int, optional
        How many ones; one by default.
    """
    few = {name: ones(call[name], shape) for name in arrays}
    # A trace of its own, because the caller's shows what runs on his data.
    with backend_opts(disable=NAME, trace=True):
        return call.replaced(**few).function(**call.replaced(**few).arguments)


def ones(x: Array, shape: tuple[int, ...] | None = None) -> Any:
    """Return a few ones of the type of the blocks of `x`."""
    return np.ones_like(x._meta, shape=(1,) * x.ndim if shape is None else shape)


def meta_of(result: Any) -> Any:
    """Return an empty array like `result`, which is what Dask calls its meta."""
    return result[(slice(0, 0),) * result.ndim]
