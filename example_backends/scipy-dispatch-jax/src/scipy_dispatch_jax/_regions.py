"""Connected regions, and distances to the background, of `scipy_dispatch.ndimage`."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np
from scipy.ndimage import generate_binary_structure

from ._arrays import default_float, dtype_of, is_complex, is_traced, narrowed
from ._axes import for_each
from ._implement import TRACES, Call, implements
from ._jax import Array, jax, jnp, lax
from ._window import Windows, offsets_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _refuse_structure(call: Call) -> str | None:
    if call.output is not None and np.dtype(call.output) != np.int32:
        return "output= is another data type than int32"
    if is_complex(dtype_of(call.input)) or not jnp.size(call.input) or not jnp.ndim(call.input):
        return "input= is complex, or has no elements or no axis"
    if call.structure is not None:
        structure = np.asarray(call.structure, dtype=bool)
        if (structure != np.flip(structure)).any():
            return "structure= is not symmetric"
    return None


@implements("ndimage", "input", _refuse_structure, docs=TRACES)
def label(call: Call) -> tuple[Array, Any]:
    """The number of regions is an array while JAX traces."""
    x, structure = jnp.asarray(call.input), call.structure
    if structure is None:
        structure = generate_binary_structure(x.ndim, 1)
    structure = np.asarray(structure, dtype=bool)
    if structure.ndim != x.ndim:
        raise RuntimeError("structure and input must have equal rank")
    if structure.shape != (3,) * x.ndim:
        raise ValueError("structure dimensions must be equal to 3")
    index = np.dtype(np.int32)
    offsets = offsets_of(structure.shape, structure)
    modes = ("constant",) * x.ndim
    windows = Windows(structure.shape, offsets, ((1, 1),) * x.ndim, modes, index, index)
    labels, count = _labelled(x.astype(np.bool_), windows)
    return labels, count if is_traced(count) else int(count)


@partial(jax.jit, static_argnames="windows")
def _labelled(x: Array, windows: Windows) -> tuple[Array, Array]:
    """Number connected regions in the order of their first elements.

    Every element points to one of its region that comes earlier, at last to the first. In each
    round, elements learn where their neighbours point to, and so do the elements that they
    point to; then all follow their pointers once more.
    """
    none = x.size
    own = jnp.where(x.ravel(), jnp.arange(none, dtype=np.int32), none)

    def joined(pointers: Array) -> Array:
        wide, parts = windows.over(pointers[:none].reshape(x.shape), np.int32(none))
        around = reduce(jnp.minimum, (parts.of(wide, k) for k in range(parts.count)))
        around = jnp.where(x, jnp.minimum(around, pointers[:none].reshape(x.shape)), none).ravel()
        pointers = pointers.at[:none].min(around).at[pointers[:none]].min(around)
        return pointers[pointers]

    def is_moving(pair: tuple[Array, Array]) -> Array:
        return (pair[0] != pair[1]).any()

    first = jnp.append(own, np.int32(none))
    _, pointers = lax.while_loop(
        is_moving, lambda pair: (pair[1], joined(pair[1])), (first, joined(first))
    )
    pointers = pointers[:none]
    is_first = x.ravel() & (pointers == own)
    numbers = jnp.cumsum(is_first.astype(np.int32))
    labels = jnp.where(x.ravel(), numbers[jnp.minimum(pointers, none - 1)], 0)
    return labels.reshape(x.shape), numbers[-1].astype(narrowed(np.int64))


def _refuse_distances(call: Call) -> str | None:
    if call.return_indices or not call.return_distances:
        return "return_indices=True: of several nearest elements, SciPy's choice is its own"
    if call.distances is not None or call.indices is not None:
        return "distances= or indices= is an array, and JAX cannot write into one"
    return "input= has no elements" if 0 in jnp.shape(call.input) else None


@implements("ndimage", "input", _refuse_distances, docs=TRACES)
def distance_transform_edt(call: Call) -> Array:
    x = jnp.atleast_1d(jnp.asarray(call.input))
    sampling = for_each(1.0 if call.sampling is None else call.sampling, x.ndim)
    return _distances(x.astype(np.bool_), tuple(map(float, sampling)))


@partial(jax.jit, static_argnames="sampling")
def _distances(x: Array, sampling: tuple[float, ...]) -> Array:
    """Return distances; along each axis, the least sum of squares over all elements."""
    squares = jnp.where(x, jnp.inf, 0.0).astype(default_float())
    for axis, step in enumerate(sampling):
        line = squares_of = jnp.moveaxis(squares, axis, -1)
        places = jnp.arange(line.shape[-1]).astype(line.dtype)

        def nearer(number: Any, best: Array, line: Array = line, places: Array = places) -> Array:
            away = ((places - places[number]) * step).reshape(*(1,) * (line.ndim - 1), -1)  # noqa: B023 - used within this round
            return jnp.minimum(best, line[..., number, None] + away * away)

        squares = jnp.moveaxis(lax.fori_loop(0, places.size, nearer, squares_of), -1, axis)
    return jnp.sqrt(squares)
