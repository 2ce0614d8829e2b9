"""Connected regions, and distances to the background, of `scipy_dispatch.ndimage`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.ndimage import generate_binary_structure

from ._arrays import default_float, is_traced, narrowed
from ._axes import for_each
from ._frame import Frame
from ._implement import TRACES, Call, implements, require
from ._jax import Array, jax, jnp, lax
from ._window import Windows, offsets_of


def _refuse_structure(call: Call) -> str | None:
    if not jnp.ndim(call.input):
        return "input= has no axis"
    if call.output is not None and np.dtype(call.output) != np.int32:
        return "output= is another data type than int32"
    if call.structure is not None:
        structure = np.asarray(call.structure, dtype=bool)
        if (structure != np.flip(structure)).any() or not structure.any():
            return "structure= is not symmetric, or connects nothing"
    return None


@implements("ndimage", "input:bifh", _refuse_structure, docs=TRACES)
def label(call: Call) -> tuple[Array, Any]:
    """The number of regions is an array while JAX traces."""
    x, structure = call.input, call.structure
    structure = generate_binary_structure(x.ndim, 1) if structure is None else structure
    structure = np.asarray(structure, dtype=bool)
    require(structure.shape == (3,) * x.ndim)
    frame = Frame.of(x.ndim, structure.shape, tuple(range(x.ndim)), 0, "constant", 0)
    windows = frame.windows(np.int32, np.int32, offsets_of(structure.shape, structure))
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
        around = parts.reduced(wide, jnp.minimum)
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
    return None


@implements("ndimage", "input", _refuse_distances, docs=TRACES)
def distance_transform_edt(call: Call) -> Array:
    x = jnp.atleast_1d(call.input)
    sampling = for_each(1.0 if call.sampling is None else call.sampling, x.ndim)
    return _distances(x.astype(np.bool_), tuple(map(float, sampling)))


@partial(jax.jit, static_argnames="sampling")
def _distances(x: Array, sampling: tuple[float, ...]) -> Array:
    """Return distances; along each axis, the least sum of squares over all elements."""
    squares = jnp.where(x, jnp.inf, 0.0).astype(default_float())
    for axis, step in enumerate(sampling):
        line = jnp.moveaxis(squares, axis, -1)
        places = step * jnp.arange(line.shape[-1]).astype(line.dtype)

        def nearer(number: Any, best: Array, line: Array = line, places: Array = places) -> Array:
            away = jnp.broadcast_to(places - places[number], best.shape)
            return jnp.minimum(best, line[..., number, None] + away * away)

        squares = jnp.moveaxis(lax.fori_loop(0, places.size, nearer, line), -1, axis)
    return jnp.sqrt(squares)
