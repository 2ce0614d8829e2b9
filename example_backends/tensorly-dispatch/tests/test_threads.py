"""Threads that set a backend keep it, as with TensorLy's own managers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask
import jax
import numpy as np
import pytest
import tensorly as tl
from tensorly import tenalg

import tensorly_dispatch  # noqa: F401  # it takes the place of TensorLy's managers

TYPES = {"numpy": np.ndarray, "jax": jax.Array}


@pytest.fixture(autouse=True)
def _with_numpy() -> Iterator[None]:
    """Nothing that a test sets is left for the others; threads take turns often."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)
    tl.set_backend("numpy")
    tenalg.set_backend("core")


def in_new_thread(function: Callable[..., Any], *args: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()


def set_it(name: str, local: bool) -> str:
    tl.set_backend(name, local_threadsafe=local)
    return computed()


def enter_it(name: str, local: bool) -> str:
    with tl.backend_context(name, local_threadsafe=local):
        return computed()


def computed() -> str:
    """Call some functions; return the backend if all of them ran on the current one."""
    name = tl.get_backend()
    for _ in range(3):
        tensor = tl.reshape(tl.arange(6.0), (2, 3))
        results = [tensor, tl.unfold(tensor, 1), tl.dot(tl.ones(3), tl.ones(3)) * tl.ones(1)]
        assert [type(each) for each in results if not isinstance(each, TYPES[name])] == []
        assert tl.get_backend() == name
    return name


@pytest.mark.parametrize("local", [False, True], ids=["process", "thread"])
@pytest.mark.parametrize("act", [set_it, enter_it], ids=["set_backend", "backend_context"])
def test_a_thousand_jobs_of_dask(act: Any, local: bool) -> None:
    """Each runs on the backend that it sets, and the main thread on its own."""
    names = [("numpy", "jax")[number % 7 % 2] for number in range(1000)]
    jobs = [dask.delayed(act, pure=False)(name, local) for name in names]
    found = dask.compute(*jobs, scheduler="threads", num_workers=8)
    wrong = [pair for pair in zip(names, found, strict=True) if pair[0] != pair[1]]
    assert (len(found), wrong) == (1000, [])
    assert computed() == "numpy"


def test_a_thread_that_has_set_none_follows() -> None:
    """The backend that was set last without `local_threadsafe`; or while a context lasts."""
    tl.set_backend("jax")
    assert in_new_thread(tl.get_backend) == "jax"
    for local, seen in ((False, "numpy"), (True, "jax")):
        with tl.backend_context("numpy", local_threadsafe=local):
            assert (tl.get_backend(), in_new_thread(tl.get_backend)) == ("numpy", seen)
        assert in_new_thread(tl.get_backend) == "jax"
    in_new_thread(set_it, "numpy", True)
    assert in_new_thread(tl.get_backend) == "jax"
    in_new_thread(set_it, "numpy", False)
    assert (tl.get_backend(), in_new_thread(tl.get_backend)) == ("jax", "numpy")
