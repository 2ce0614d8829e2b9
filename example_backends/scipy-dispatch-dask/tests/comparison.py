"""Helpers of the tests: sample calls, each with SciPy and, lazily, with Dask.

Some arguments make SciPy 1.18 access memory out of bounds and must never be drawn: origins
outside the structure in binary morphology; footprints without a True; for 1-d rank filters
(`rank_filter`, `median_filter`, `percentile_filter`) another data type as ``output=``, or a line
shorter than the window; empty arrays in `resample_poly`.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tolerances import TOLERANCES

from scipy_dispatch import testing
from scipy_dispatch.testing import (
    EXACT,
    SAMPLES,
    Comparison,
    Tolerance,
    allowed_for,
    call,
    difference,
    dispatchable,
    quietly,
    scipy_function,
)
from scipy_dispatch_dask._table import TABLES

INTEGERS = (np.uint8, np.int16, np.int64)
FLOATS = (np.float32, np.float64)


def forbidden(*args: Any, **kwargs: Any) -> Any:
    """A scheduler that fails if anything is computed."""
    raise AssertionError("something was computed before the user asked for it")


def chunked(lengths: tuple[int, ...]) -> st.SearchStrategy[tuple[tuple[int, ...], ...]]:
    """Chunks of an array, of any lengths including 0."""
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
    """Arrays of some data types, with finite values within 100 of `offset`."""
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
    """An array, and a Dask array of it in chunks."""
    x = draw(arrays(*args, **kwargs))
    return x, da.from_array(x, chunks=draw(chunked(x.shape)))


def why_deferred(name: str, *args: Any, **kwargs: Any) -> str | None:
    """Return why the backend leaves a call to SciPy; None if it does not."""
    return testing.why_deferred("dask", name, *args, **kwargs)


def lazily(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function with the backend alone, without computing the result."""
    with dask.config.set(scheduler=forbidden):
        return dispatchable(name).invoke(backend="dask", force=True)(*args, **kwargs)


def computed(result: da.Array) -> np.ndarray:
    """Compute `result`; every block must match the array's metadata."""
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
    may_defer: bool = False,
    **kwargs: Any,
) -> str | None:
    """Compare a call with `lazy` to SciPy's call with `x`, within the function's tolerance.

    An error must be of the type of SciPy's.

    Parameters
    ----------
    name : str
        The function, such as ``ndimage.sobel``.
    x, lazy : array, dask.array.Array
        The same array, as the first argument or as the one named `parameter`.
    *args, **kwargs
        The other arguments.
    tolerance : Tolerance, optional
        A smaller tolerance, for arguments with more accurate results.
    parameter : str, optional
        The parameter that takes the array.
    may_defer : bool, optional
        Whether the backend may leave the call to SciPy; then the reason is returned.
    """
    given = call(x, *args, **kwargs) if parameter is None else call(**{parameter: x}, **kwargs)
    backend = Comparison(
        "dask",
        TOLERANCES if tolerance is None else {name: {"all": tolerance}},
        to_array=lambda each: lazy if each is x else each,
        to_numpy=lambda each: x if each is lazy else computed(each),  # Dask's never change
    )
    if may_defer and (reason := backend.why_deferred(name, given)):
        return reason
    try:
        scipys = given.fresh()
        quietly(scipy_function(name), *scipys.args, **scipys.kwargs)
    except Exception as error:  # noqa: BLE001 - Dask must raise any error that SciPy raises
        lazy_call = backend.given(given)
        with pytest.raises(type(error)):
            backend.fetched(quietly(lazily, name, *lazy_call.args, **lazy_call.kwargs))
        return None
    return backend.check(name, given)


def assert_same(result: Any, expected: Any, name: str | None = None, *arrays: Any) -> None:
    """Compare with SciPy's result for `arrays`, exactly or within the tolerance of a function."""
    expected = np.asarray(expected)
    data = [each for each in (expected, *arrays) if isinstance(each, np.ndarray)]
    allowed = EXACT if name is None else allowed_for(TOLERANCES[name], data)
    wrong = difference(name or "", result, expected, allowed)
    assert wrong is None, wrong


_WAVE = SAMPLES["signal.detrend"].args[0]
_B, _A = SAMPLES["signal.lfilter"].args[:2]

# The samples of these have a second result, or a value for each element.
_CALLS = {
    **SAMPLES,
    "signal.lfilter": call(_B, _A, _WAVE),
    "signal.resample": call(_WAVE, 24, window=np.hanning(64)),
    "signal.sawtooth": call(_WAVE, 0.5),
    "signal.sosfilt": call(SAMPLES["signal.sosfilt"].args[0], _WAVE),
    "signal.square": call(_WAVE, 0.25),
}

SERVED = Comparison("dask", TOLERANCES).functions


def strategy_of(name: str) -> Any:
    """Return the strategy of a function."""
    module, _, function = name.partition(".")
    return TABLES[f"scipy_dispatch.{module}"][function]


def an_array(name: str) -> Any:
    """Return a suitable array for the function."""
    return _bound(name)[strategy_of(name).arrays[0]]


def arguments(name: str, x: Any) -> dict[str, Any]:
    """Return all arguments of the call by name, with `x` as the array."""
    return {**_bound(name), strategy_of(name).arrays[0]: x}


def check_sample(name: str, x: Any, lazy: Any) -> None:
    """Compare the call with another array with SciPy's."""
    others = _bound(name)
    parameter = strategy_of(name).arrays[0]
    del others[parameter]
    check(name, x, lazy, parameter=parameter, **others)


def _bound(name: str) -> dict[str, Any]:
    args, kwargs = _CALLS[name]
    return signature(scipy_function(name)).bind(*args, **kwargs).arguments
