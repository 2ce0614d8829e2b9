"""Regions of `scipy_dispatch.ndimage`: statistics of labelled ones, labels, and distances.

The labels and the list of regions may be traced: the shapes of all results are known without
their values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from scipy.ndimage import generate_binary_structure

from ._arrays import default_float, for_each, is_integer, is_traced, narrowed, promoted
from ._calls import TRACES, Arguments, implements, require
from ._windows import Windows

_ARRAYS = "input:bif labels:bif index:bif"


class _Regions(NamedTuple):
    """The regions of a call, each with a slot.

    Attributes
    ----------
    x : jax.Array
        The elements, as a line.
    slot : jax.Array
        The slot of each element; the last one is for elements of no region.
    slots : int
        The number of slots.
    place : jax.Array
        The slot of each region that was asked for; one that is repeated has one slot.
    is_one : bool
        Whether one region is asked for, not a list.
    """

    x: Array
    slot: Array
    slots: int
    place: Array
    is_one: bool

    def sums(self, values: Array, dtype: Any) -> Array:
        """Return the sum of values in each slot."""
        return jax.ops.segment_sum(values.astype(dtype), self.slot, self.slots)

    def totals(self, values: Array) -> Array:
        """Return the sums with NumPy's data type for one region, in doubles for several."""
        dtype = default_float()
        if self.is_one:
            wide = np.uint64 if np.dtype(values.dtype).kind == "u" else np.int64
            dtype = promoted(wide) if is_integer(values.dtype) else values.dtype
        return self.sums(values, dtype)

    def means(self, values: Array) -> Array:
        """Return the mean of values in each slot; NaN where there are none."""
        total = self.totals(values)
        counts = self.sums(jnp.ones(values.shape), default_float())
        return total.astype(promoted(total.dtype, default_float())) / counts


def _regions(call: Arguments) -> _Regions:
    x, labels, index = call.input, call.labels, call.index
    is_one = labels is None or index is None or jnp.ndim(index) == 0
    if labels is None:
        labels, index = jnp.ones(x.shape, np.int32), 1
    x, labels = jnp.broadcast_arrays(x, jnp.asarray(labels))
    if index is None:
        labels, index = (labels > 0).astype(np.int32), 1
    index = jnp.asarray(index)
    dtype = promoted(labels.dtype, index.dtype)
    labels, index = labels.ravel().astype(dtype), index.astype(dtype)
    wanted = jnp.sort(index.ravel())
    slot = jnp.searchsorted(wanted, labels)
    found = wanted[jnp.minimum(slot, wanted.size - 1)] == labels
    slot = jnp.where(found, slot, wanted.size)
    return _Regions(x.ravel(), slot, wanted.size + 1, jnp.searchsorted(wanted, index), is_one)


def _compiled(function: Callable[..., Any]) -> Callable[[Arguments], Any]:
    """Return a function that measures as one compiled program."""

    @partial(jax.jit)
    def work(input: Array, labels: Any, index: Any) -> Any:
        regions = _regions(Arguments(input=input, labels=labels, index=index))
        return jax.tree.map(lambda each: each[regions.place], function(regions, input))

    return lambda call: work(call.input, call.labels, call.index)


def _variance(regions: _Regions, _: Array) -> Array:
    mean = regions.means(regions.x)
    if regions.is_one and not is_integer(regions.x.dtype):
        mean = mean.astype(regions.x.dtype)
    centred = regions.x.astype(mean.dtype) - mean[regions.slot]
    return regions.means(centred * centred)


def _extreme(regions: _Regions, largest: bool) -> tuple[Array, Array]:
    """Return the extremes in each slot, and where they are first."""
    x, slot, slots = regions.x, regions.slot, regions.slots
    numbers = x.astype(np.uint8) if x.dtype == np.bool_ else x
    work = jax.ops.segment_max if largest else jax.ops.segment_min
    best = work(numbers, slot, slots)
    there = jnp.where(numbers == best[slot], jnp.arange(x.size), x.size)
    first = jax.ops.segment_min(there, slot, slots)
    is_empty = first >= x.size
    best = jnp.where(is_empty, jnp.zeros_like(best), best)
    return best.astype(x.dtype), jnp.where(is_empty, 0, first)


def _centre(regions: _Regions, x: Array) -> tuple[Array, ...]:
    x = x.astype(default_float())
    total = regions.sums(x.ravel(), x.dtype)
    grids = jnp.indices(x.shape, sparse=True)
    moments = (jnp.ravel(x * grid.astype(x.dtype)) for grid in grids)
    return tuple(regions.sums(each, x.dtype) / total for each in moments)


def _refuse_measure(call: Arguments) -> str | None:
    is_empty = call.index is not None and not jnp.size(call.index)
    return "index= has no elements" if is_empty else None


_MEASURES: dict[str, Callable[[_Regions, Array], Any]] = {
    **dict.fromkeys(("sum", "sum_labels"), lambda regions, _: regions.totals(regions.x)),
    "mean": lambda regions, _: regions.means(regions.x),
    "variance": _variance,
    "standard_deviation": lambda *given: jnp.sqrt(_variance(*given)),
    "minimum": lambda regions, _: _extreme(regions, False)[0],
    "maximum": lambda regions, _: _extreme(regions, True)[0],
}

for _name, _measure in _MEASURES.items():
    globals()[_name] = implements("ndimage", _ARRAYS, _refuse_measure, _name)(_compiled(_measure))


def _refuse_points(call: Arguments) -> str | None:
    is_list = call.index is not None and jnp.ndim(call.index) > 1
    if is_list or (call.labels is not None and jnp.shape(call.labels) != jnp.shape(call.input)):
        return "labels= is not of the shape of input=, or index= is no line"
    return _refuse_measure(call)


def _as_points(call: Arguments, axes: Any) -> Any:
    """Return a point as a tuple, and points as a list of tuples, as SciPy does."""
    if call.labels is None or call.index is None or jnp.ndim(call.index) == 0:
        return tuple(axes)
    return list(zip(*axes, strict=True))


_centres = _compiled(_centre)
_extremes = _compiled(lambda regions, _: (_extreme(regions, False), _extreme(regions, True)))


@implements("ndimage", _ARRAYS, _refuse_points)
def center_of_mass(call: Arguments) -> Any:
    return _as_points(call, _centres(call))


def _extrema(call: Arguments) -> tuple[Any, Any, Any, Any]:
    (least, first), (most, last) = _extremes(call)
    places = (jnp.unravel_index(each, call.input.shape) for each in (first, last))
    lowest, highest = (_as_points(call, each) for each in places)
    return least, most, lowest, highest


extrema = implements("ndimage", _ARRAYS, _refuse_points, "extrema")(_extrema)


@implements("ndimage", _ARRAYS, _refuse_points, docs=TRACES)
def minimum_position(call: Arguments) -> Any:
    return _extrema(call)[2]


@implements("ndimage", _ARRAYS, _refuse_points, docs=TRACES)
def maximum_position(call: Arguments) -> Any:
    return _extrema(call)[3]


def _refuse_structure(call: Arguments) -> str | None:
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
def label(call: Arguments) -> tuple[Array, Any]:
    """The number of regions is an array while JAX traces."""
    x, structure = call.input, call.structure
    structure = generate_binary_structure(x.ndim, 1) if structure is None else structure
    structure = np.asarray(structure, dtype=bool)
    require(structure.shape == (3,) * x.ndim)
    axes, types = tuple(range(x.ndim)), (np.int32, np.int32)
    windows = Windows.of(x.ndim, structure, axes, 0, "constant", types)
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
        wide = windows.over(pointers[:none].reshape(x.shape), np.int32(none))
        around = windows.reduced(wide, jnp.minimum)
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


def _refuse_distances(call: Arguments) -> str | None:
    if call.return_indices or not call.return_distances:
        return "return_indices=True: of several nearest elements, SciPy's choice is its own"
    if call.distances is not None or call.indices is not None:
        return "distances= or indices= is an array, and JAX cannot write into one"
    return None


@implements("ndimage", "input", _refuse_distances, docs=TRACES)
def distance_transform_edt(call: Arguments) -> Array:
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
