"""Fallback policies: every function of `scipy_dispatch` with Dask arrays."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pytest
from comparison import SERVED
from scipy_functions import FUNCTIONS, Function

from scipy_dispatch import backend_opts, ndimage
from scipy_dispatch.testing import EXACT, Comparison, difference, quietly
from spatch_core import NoImplementationError

X = np.arange(42.0).reshape(6, 7) % 5
LAZY = da.from_array(X, chunks=(3, 4))
MISSING = [function for function in FUNCTIONS if f"{function.module}.{function.name}" not in SERVED]
ALLOWED = {"scipy_dispatch.compute": True, "scheduler": "synchronous"}


def in_dask(value: np.ndarray) -> da.Array:
    return da.from_array(value, chunks=tuple(1 + length // 2 for length in value.shape))


COMPARISON = Comparison("dask", {}, to_array=in_dask, to_numpy=np.asarray)


@pytest.mark.parametrize("function", MISSING, ids=str)
def test_convert_makes_every_other_function_work(function: Function) -> None:
    """SciPy's values come back as Dask arrays, if computing is allowed."""
    call = function.call.fresh()
    given = COMPARISON.given(call)
    expected = quietly(function.default, *call.args, **call.kwargs)
    with dask.config.set(ALLOWED), backend_opts(fallback="convert", trace=True) as trace:
        result = quietly(function.dispatchable, *given.args, **given.kwargs)
        assert any(event.outcome == "converted" for event in trace)
        assert not difference(str(function), COMPARISON.fetched(result), expected, EXACT)


@pytest.mark.parametrize("policy", ["raise", "convert"])
@pytest.mark.parametrize("function", MISSING[::12], ids=str)
def test_nothing_is_computed_unless_it_is_allowed(function: Function, policy: str) -> None:
    """The scheduler of these tests fails if anything is computed."""
    args, kwargs = COMPARISON.given(function.call)
    with backend_opts(fallback=policy), pytest.raises(NoImplementationError) as caught:
        function.dispatchable(*args, **kwargs)
    if policy == "convert":
        assert "dask cannot convert: it would compute a Dask array" in str(caught.value)
        assert '"scipy_dispatch.compute": True' in str(caught.value)
    else:
        assert "dask converts " in str(caught.value)
        assert " bytes), and the library's own" in str(caught.value)


def test_a_refusal_has_dasks_reason() -> None:
    with backend_opts(fallback="convert"), pytest.raises(NoImplementationError) as caught:
        ndimage.binary_erosion(LAZY > 1, iterations=0)
    assert "it would compute a Dask array" in str(caught.value)
    with backend_opts(fallback="raise"), pytest.raises(NoImplementationError) as caught:
        ndimage.binary_erosion(LAZY > 1, iterations=0)
    assert "dask defers: iterations < 1 repeats until nothing changes" in str(caught.value)


def test_an_output_gets_the_elements() -> None:
    """A Dask array refers to other blocks from then on."""
    output = da.zeros((6, 7), chunks=(2, 7))
    before = output.sum()
    with dask.config.set(ALLOWED), backend_opts(fallback="convert"):
        assert ndimage.sobel(LAZY, output=output) is output
        np.testing.assert_array_equal(np.asarray(output), ndimage.sobel(X))
        assert float(before) == 0
    assert output.chunks == ((2, 2, 2), (7,))
