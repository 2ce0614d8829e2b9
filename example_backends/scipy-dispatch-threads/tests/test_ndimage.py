"""The functions, and their `should_run`."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import ndimage as scipy_ndimage
from typical import CALLS, an_array

from scipy_dispatch import backend_opts
from scipy_dispatch import ndimage as library
from scipy_dispatch.testing import assert_identical, why_deferred
from scipy_dispatch_threads import ndimage, set_workers
from scipy_dispatch_threads._split import Policy
from scipy_dispatch_threads._table import TABLE
from spatch_core.exceptions import BackendDeferredError

IMAGE = np.random.default_rng(0).standard_normal((1100, 1200))


@pytest.mark.parametrize("name", TABLE)
def test_a_function_looks_like_scipy_s(name: str) -> None:
    function, original = getattr(ndimage, name), getattr(scipy_ndimage, name)
    assert inspect.signature(function) == inspect.signature(original)
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("name", TABLE)
def test_a_function_works_by_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shared from the size on that its cost decides; else it raises with the reason."""
    array, arguments = an_array(name), CALLS[name]
    function = getattr(ndimage, name)
    with pytest.raises(BackendDeferredError, match="too few"):
        function(array, **arguments)
    monkeypatch.setitem(TABLE, name, TABLE[name]._replace(smallest=0))
    monkeypatch.setattr(Policy, "current", lambda smallest: Policy(3, smallest, slabs=3))
    assert_identical(function(array, **arguments), getattr(scipy_ndimage, name)(array, **arguments))
    with pytest.raises(BackendDeferredError, match=r"unknown|arguments for gaussian_filter"):
        function(array, **arguments, unknown=1)


def why(name: str, *args: Any, **kwargs: Any) -> str | None:
    """Return why the backend does not run a call if it is prioritized; None if it does."""
    with backend_opts(prioritize="threads"):
        return why_deferred("threads", f"ndimage.{name}", *args, **kwargs)


def test_the_library_asks_first() -> None:
    assert why("gaussian_filter", IMAGE, 2) is None
    assert why("gaussian_filter", input=IMAGE, sigma=2) is None
    assert "36000 elements are too few" in str(why("gaussian_filter", IMAGE[:30], 2))
    assert "no axis of 1320000 elements can be split" in str(why("median_filter", IMAGE.ravel(), 3))
    assert "SciPy reports the error: TypeError" in str(why("gaussian_filter", IMAGE, "wide"))
    set_workers(1)
    assert why("gaussian_filter", IMAGE, 2) == "there is one worker"


def test_prioritized_it_runs_and_the_result_is_the_same() -> None:
    with backend_opts(prioritize="threads", trace=True) as trace:
        result = library.gaussian_filter(IMAGE, 2)
        other = library.zoom(IMAGE[:10, :10], 2)
    assert [(event.function.partition(":")[2], event.backend) for event in trace] == [
        ("gaussian_filter", "threads"),
        ("zoom", "default"),
    ]
    assert_identical(result, scipy_ndimage.gaussian_filter(IMAGE, 2))
    assert_identical(other, scipy_ndimage.zoom(IMAGE[:10, :10], 2))


def test_a_deferral_reads_one_argument() -> None:
    """Nothing else of a small call is looked at: the rest are no arguments of any function."""
    assert "too few" in ndimage.sobel.plan(np.ones((220, 220)), object(), object(), no=object())


def test_costly_functions_pay_from_smaller_arrays_on() -> None:
    small = IMAGE[:240, :240].copy()
    for name in ("sobel", "uniform_filter", "gaussian_filter", "correlate1d"):
        assert "too few" in getattr(ndimage, name).plan(small, 3)
    assert callable(ndimage.median_filter.plan(small, 3))
