"""What the tests share: the same call with SciPy and, lazily, with Dask.

Some arguments make SciPy 1.18 read or write memory that is not its own, and so must never be
drawn: origins beyond a structure in binary morphology; footprints of nothing but False; for ranks
in one dimension (`rank_filter`, `median_filter`, `percentile_filter`) another data type as
``output=``, or a line shorter than the filter; arrays without elements in `resample_poly`.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tolerances import EXACT, Tolerance, tolerance_of

MODES = ("reflect", "nearest", "mirror", "constant", "wrap")
GRID_MODES = ("grid-wrap", "grid-constant", "grid-mirror")
INTEGERS = (np.uint8, np.int16, np.int64)
FLOATS = (np.float32, np.float64)


def forbidden(*args: Any, **kwargs: Any) -> Any:
    """Be a scheduler that refuses to work."""
    raise AssertionError("something was computed before the user asked for it")


def chunked(lengths: tuple[int, ...]) -> st.SearchStrategy[tuple[tuple[int, ...], ...]]:
    """Ways to cut an array, in pieces of any size, 0 among them."""
    return st.tuples(*map(_pieces, lengths))


@st.composite
def _pieces(draw: Any, length: int) -> tuple[int, ...]:
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=4)))
    return tuple(np.diff([0, *cuts, length]).tolist())


@st.composite
def arrays(
    draw: Any,
    dtypes: tuple[Any, ...] = (bool, *INTEGERS, *FLOATS),
    max_dims: int = 3,
    min_dims: int = 1,
    min_side: int = 1,
    max_side: int = 13,
    offset: float = 0,
) -> np.ndarray:
    """Arrays of a few data types, of finite values no further than 100 from `offset`."""
    shapes = hnp.array_shapes(
        min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side
    )
    shape = draw(shapes)
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    if dtype.kind == "b":
        return random.random(shape) > 0.4
    x = random.uniform(0 if dtype.kind == "u" else -100, 100, shape) + offset
    if dtype.kind == "c":
        x = x + 1j * random.uniform(-100, 100, shape)
    return x.astype(dtype)


@st.composite
def dask_arrays(draw: Any, *args: Any, **kwargs: Any) -> Any:
    """An array, and the same one cut in pieces."""
    x = draw(arrays(*args, **kwargs))
    return x, da.from_array(x, chunks=draw(chunked(x.shape)))


def per_axis(values: st.SearchStrategy[Any], count: int) -> st.SearchStrategy[Any]:
    """One value, or a list with one for each axis."""
    return values | st.lists(values, min_size=count, max_size=count)


def some_axes(name: str, ndim: int) -> st.SearchStrategy[dict[str, Any]]:
    """Axes as users name them, in any order and from either end, or none.

    None at all where SciPy's function does not have the parameter yet.
    """
    if "axes" not in signature(scipy_function(name)).parameters:
        return st.just({})
    axes = st.permutations(range(ndim)).flatmap(
        lambda order: st.integers(1, ndim).map(lambda count: tuple(order[:count]))
    )
    axes |= axes.map(lambda each: tuple(axis - ndim for axis in each))
    return st.just({}) | axes.map(lambda each: {"axes": each})


def axes_of(draw: Any, name: str, ndim: int) -> tuple[dict[str, Any], int]:
    """Draw the argument ``axes``, if any, and say how many axes that means."""
    axes = draw(some_axes(name, ndim))
    return axes, len(axes["axes"]) if axes else ndim


def dispatchable(name: str) -> Any:
    """Return the function of `scipy_dispatch` called, such as ``ndimage.sobel``."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"scipy_dispatch.{module}"), function)


def scipy_function(name: str) -> Any:
    """Return the function of SciPy of the same name."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"scipy.{module}"), function)


def why_deferred(name: str, *args: Any, **kwargs: Any) -> str | None:
    """Say why the backend leaves a call to SciPy; None if it does not."""
    with dask.config.set(scheduler=forbidden):
        explanation = dispatchable(name).explain(*args, **kwargs)
    if explanation.selected == "dask":
        return None
    (reason,) = (each.reason for each in explanation.backends if each.backend == "dask")
    return reason


def lazily(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function with the backend alone, without computing anything."""
    with dask.config.set(scheduler=forbidden):
        return dispatchable(name).invoke(backend="dask")(*args, **kwargs)


def computed(result: da.Array) -> np.ndarray:
    """Compute `result`; every block must be what the array says of it."""
    assert isinstance(result, da.Array)
    assert type(result._meta) is np.ndarray
    blocks = np.empty(result.numblocks, dtype=object)
    delayed = result.to_delayed()
    values = dask.compute(*delayed.ravel(), scheduler="synchronous")
    for index, value in zip(np.ndindex(result.numblocks), values, strict=True):
        shape = tuple(sizes[i] for sizes, i in zip(result.chunks, index, strict=True))
        assert np.shape(value) == shape
        assert np.asarray(value).dtype == result.dtype
        blocks[index] = np.asarray(value)
    return np.block(blocks.tolist()) if result.ndim else blocks[()]


def check(
    name: str,
    x: np.ndarray,
    lazy: da.Array,
    *args: Any,
    tolerance: Tolerance | None = None,
    parameter: str | None = None,
    **kwargs: Any,
) -> None:
    """Compare a call with `lazy` to SciPy's with `x`, within the tolerance for the function.

    Parameters
    ----------
    name : str
        Such as ``ndimage.sobel``.
    x, lazy : array, dask.array.Array
        The same array, the first argument or the one called `parameter`.
    *args, **kwargs
        The other arguments.
    tolerance : Tolerance, optional
        A smaller one, for arguments for which the function does better.
    parameter : str, optional
        The parameter that takes the array.
    """
    given = {} if parameter is None else {parameter: x}
    positional = (x, *args) if parameter is None else args
    try:
        expected = scipy_function(name)(*positional, **given, **kwargs)
    except Exception as error:  # noqa: BLE001 - whatever it is, Dask must raise it too
        with pytest.raises(type(error)):
            _run(name, lazy, args, parameter, kwargs)
        return
    result = _run(name, lazy, args, parameter, kwargs)
    allowed = tolerance_of(name, expected, x, *args)
    assert tolerance is None or tolerance <= allowed
    assert_same(result, expected, tolerance or allowed)


def _run(name: str, lazy: da.Array, args: Any, parameter: str | None, kwargs: Any) -> np.ndarray:
    if parameter is None:
        return computed(lazily(name, lazy, *args, **kwargs))
    return computed(lazily(name, *args, **{parameter: lazy}, **kwargs))


def assert_same(result: np.ndarray, expected: Any, tolerance: Tolerance = EXACT) -> None:
    """Compare type, shape and values, these within a tolerance."""
    expected = np.asarray(expected)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    if result.dtype.kind in "biu" or not tolerance.rtol:
        np.testing.assert_array_equal(result, expected)
    elif expected.size:
        scale = np.abs(expected).max(initial=np.finfo(expected.dtype).tiny)
        assert np.abs(result - expected).max() <= tolerance.rtol * scale + tolerance.atol
