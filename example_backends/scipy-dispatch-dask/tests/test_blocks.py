"""The work on a block: a call of `scipy_dispatch` for the block's type; see `test_cluster`."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
from comparison import lazily
from scipy import ndimage as scipy_ndimage

from scipy_dispatch import backend_opts, ndimage

X = np.random.default_rng(1).random((12, 15))


def test_blocks_never_come_back_to_dask() -> None:
    """They do not even if every call counts as a call with Dask arrays."""
    with backend_opts(type=da.Array), dask.config.set(scheduler="synchronous"):
        result = ndimage.sobel(X)
        assert isinstance(result, da.Array)
        np.testing.assert_array_equal(result.compute(), scipy_ndimage.sobel(X))


def test_a_type_that_asks_for_dask_is_for_the_call_alone() -> None:
    """The type of a block determines the backend for the block."""
    seen = []

    def look(window: np.ndarray) -> float:
        seen.append(backend_opts().type)
        return float(window[0])

    for asked, left in ((da.Array, None), (np.ndarray, np.ndarray)):
        seen.clear()
        with backend_opts(type=asked, prioritize="dask"):
            result = ndimage.generic_filter(da.from_array(X, chunks=5), look, 3)
        result.compute(scheduler="synchronous")
        assert set(seen) == {left}


def test_the_trace_shows_the_call_and_not_how_it_is_done() -> None:
    """Probes and calls on blocks are not the user's calls and are not traced."""
    with backend_opts(trace=True) as trace:
        result = ndimage.sobel(da.from_array(X, chunks=5))
    result.compute(scheduler="synchronous")
    (event,) = trace
    assert (event.backend, str(event.outcome)) == ("dask", "called")


def test_user_functions_are_not_called_to_build_the_graph() -> None:
    """A user's function may be slow or fail on arrays of ones, so it is not probed."""

    def refuse(*args: np.ndarray) -> float:
        raise AssertionError

    lazily("ndimage.generic_filter", da.from_array(X, chunks=5), refuse, size=3)
    lazily("ndimage.generic_filter1d", da.from_array(X, chunks=5), refuse, 3)
