"""The functions, and their `should_run`."""

from __future__ import annotations

import inspect
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from comparison import assert_same
from scipy import ndimage as scipy_ndimage
from typical import CALLS, an_array

from scipy_dispatch import backend_opts
from scipy_dispatch import ndimage as library
from scipy_dispatch_threads import ndimage, set_workers
from scipy_dispatch_threads._table import TABLE
from spatch_core.testing import run_python

IMAGE = np.random.default_rng(0).standard_normal((300, 400))


@pytest.mark.parametrize("name", TABLE)
def test_a_function_looks_like_scipy_s(name: str) -> None:
    function, original = getattr(ndimage, name), getattr(scipy_ndimage, name)
    assert inspect.signature(function) == inspect.signature(original)
    assert function.__doc__ == original.__doc__
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("name", TABLE)
def test_a_function_works_by_itself(name: str) -> None:
    """SciPy handles small arrays and invalid arguments."""
    array = an_array(name)
    assert_same(
        getattr(ndimage, name)(array, **CALLS[name]),
        getattr(scipy_ndimage, name)(array, **CALLS[name]),
    )
    with pytest.raises(TypeError, match="unknown"):
        getattr(ndimage, name)(array, **CALLS[name], unknown=1)


def why(name: str, *args: Any, **kwargs: Any) -> str:
    """Return the reason that `explain` gives for the backend if it is prioritized."""
    with backend_opts(prioritize="threads"):
        lines = str(getattr(library, name).explain(*args, **kwargs)).splitlines()
    (line,) = (line for line in lines if " threads " in line)
    return line.partition("threads")[2].strip()


def test_the_library_asks_first() -> None:
    assert why("gaussian_filter", IMAGE, 2) == "runs"
    assert why("gaussian_filter", input=IMAGE, sigma=2) == "runs"
    assert why("gaussian_filter", IMAGE[:30], 2).startswith("defers: 12000 elements are too few")
    assert "no axis of 120000 elements can be split" in why("median_filter", IMAGE.ravel(), 3)
    assert "SciPy is to report" in why("gaussian_filter", IMAGE, "wide")
    set_workers(1)
    assert why("gaussian_filter", IMAGE, 2) == "defers: there is one worker"


def test_it_is_not_asked_unless_the_user_wants_it() -> None:
    with backend_opts(trace=True) as trace:
        library.gaussian_filter(IMAGE, 2)
    assert "threads" not in str(trace)


def test_prioritized_it_runs_and_the_result_is_the_same() -> None:
    with backend_opts(prioritize="threads", trace=True) as trace:
        result = library.gaussian_filter(IMAGE, 2)
        other = library.zoom(IMAGE[:10, :10], 2)
    assert [(event.function.partition(":")[2], event.backend) for event in trace] == [
        ("gaussian_filter", "threads"),
        ("zoom", "default"),
    ]
    assert_same(result, scipy_ndimage.gaussian_filter(IMAGE, 2))
    assert_same(other, scipy_ndimage.zoom(IMAGE[:10, :10], 2))


def test_invoked_by_name_it_does_what_it_would_defer() -> None:
    small = IMAGE[:5]
    result = ndimage.gaussian_filter(small, 1)
    assert_same(result, scipy_ndimage.gaussian_filter(small, 1))


def test_within_a_thread_of_a_pool_the_default_runs() -> None:
    answers: list[str] = []
    thread = threading.Thread(
        target=lambda: answers.append(why("sobel", IMAGE)), name="ThreadPoolExecutor-0_0"
    )
    thread.start()
    thread.join()
    assert "is one of a pool that is parallel already" in answers[0]


def test_nothing_of_it_is_imported_unless_prioritized() -> None:
    run_python(
        """
        import sys
        import numpy as np
        from scipy_dispatch import backend_opts, ndimage

        image = np.ones((300, 400))
        ndimage.sobel(image)
        assert "threads" in ndimage.sobel.backends
        assert "scipy_dispatch_threads" not in sys.modules
        with backend_opts(prioritize="threads"):
            ndimage.sobel(image)
        assert "scipy_dispatch_threads" in sys.modules
        """
    )
