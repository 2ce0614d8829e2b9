"""Arguments for axes: one value for all axes, or one for each."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def one_axis(axis: Any, ndim: int) -> int:
    """Return an axis as a non-negative number."""
    (number,) = some_axes((axis,), ndim)
    return number


def some_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return different axes as non-negative numbers; all axes for None."""
    if axes is None:
        return tuple(range(ndim))
    numbers = [operator.index(axis) for axis in np.atleast_1d(np.asarray(axes, object))]
    if any(not -ndim <= axis < ndim for axis in numbers):
        raise ValueError("an axis is out of range")
    numbers = [axis % ndim for axis in numbers]
    if len(set(numbers)) != len(numbers):
        raise ValueError("axes must be unique")
    return tuple(numbers)


def for_each(value: Any, count: int) -> list[Any]:
    """Return a list of `count` values: the given values, or a single value repeated."""
    if isinstance(value, str) or not np.ndim(value):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise ValueError("there must be a value for each axis")
    return values


def checked_origin(origin: int, size: int) -> int:
    """Return the origin of a window after checking that the window contains its shifted centre."""
    if not 0 <= size // 2 + origin < size:
        raise ValueError("invalid origin")
    return int(operator.index(origin))


def spread_window(
    shape: tuple[int, ...], origin: Any, axes: tuple[int, ...], ndim: int
) -> tuple[tuple[int, ...], list[Any]]:
    """Return the shape and origins of a window for all axes of an array, assigned as in SciPy.

    The window's axes correspond to `axes` in ascending order. The origins follow the order of
    `axes`, unless `axes` are all axes of the array.
    """
    origins = for_each(origin, len(axes))
    if len(axes) == ndim:
        return shape, origins
    return tuple(spread(shape, tuple(sorted(axes)), ndim, 1)), spread(origins, axes, ndim, 0)


def spread(values: Any, axes: tuple[int, ...], ndim: int, other: Any) -> list[Any]:
    """Return a value for every axis of an array: `values` for `axes`, `other` elsewhere."""
    result = [other] * ndim
    for axis, value in zip(axes, values, strict=True):
        result[axis] = value
    return result
