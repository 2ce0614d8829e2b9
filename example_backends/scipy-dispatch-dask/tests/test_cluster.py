"""Worker processes of ``dask.distributed``: options travel with the graph."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np
import pytest
from installed import EIGHTS, ELEVENS, NINES, SEVENS, TENS, install
from scipy import ndimage as scipy_ndimage

from scipy_dispatch import backend_opts, ndimage, system
from spatch_core import UnknownBackendError
from spatch_core.testing import isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

distributed = pytest.importorskip("distributed")

# Ignore warnings from distributed about its own shutdown.
pytestmark = [
    # One cluster for all, in one process of pytest-xdist (`--dist=loadgroup`).
    pytest.mark.xdist_group("cluster"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Port .* is already in use"),
    # Older releases warn about naming a scheduler, which the tests do intentionally.
    pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler"),
]

EYE = np.eye(12)
Client = Any


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("installed"))


@pytest.fixture(autouse=True)
def library(folder: Path) -> Iterator[None]:
    with isolated(system, path=[folder]):
        yield


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    """A client of two worker processes, which have the backends in `folder`."""
    settings = {
        "distributed.worker.memory.terminate": False,
        "distributed.scheduler.work-stealing": False,
        # Starting a worker imports SciPy, which takes long on a loaded machine.
        "distributed.comm.timeouts.connect": "120s",
        "distributed.comm.timeouts.tcp": "120s",
    }
    with (
        isolated(system, path=[folder]),
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(params=["threads", "processes", "distributed"])
def compute(request: pytest.FixtureRequest) -> Callable[[da.Array], Any]:
    """A function that computes with a scheduler, for each scheduler in turn."""
    if request.param == "distributed":
        client = request.getfixturevalue("client")
        return lambda x: client.compute(x).result(120)
    # One other process or thread is sufficient.
    return lambda x: x.compute(scheduler=request.param, num_workers=1)


def cut() -> da.Array:
    # A name of its own each time, or the cluster may still hold the results of another test.
    return da.from_array(EYE, chunks=(6, 12), name=False)


def test_options_of_a_block_are_those_of_the_workers(compute: Callable[[da.Array], Any]) -> None:
    """The options at graph construction apply to the blocks; other options do not."""
    x = cut()
    with backend_opts(prioritize="sevens"):
        sevens = ndimage.sobel(x)
        with backend_opts(prioritize="eights"):
            eights = ndimage.sobel(x)
            with backend_opts(disable="eights"):
                again = ndimage.sobel(x)
    nine = importlib.import_module("marker").Nine
    with backend_opts(prioritize="nines", type=nine):
        nines = ndimage.sobel(x)
        with backend_opts(disable="nines"):
            disabled = ndimage.sobel(x)
    scipy = ndimage.sobel(x)
    assert len({each.name for each in (sevens, eights, nines, scipy)}) == 4
    with backend_opts(prioritize="eights"):  # options at compute time have no effect
        found = compute(da.stack([sevens, eights, again, nines, disabled, scipy]))
    for value, part in zip((SEVENS, EIGHTS, SEVENS, NINES), found, strict=False):
        assert set(np.unique(part)) == {value}
    np.testing.assert_array_equal(found[4], scipy_ndimage.sobel(EYE))
    np.testing.assert_array_equal(found[5], scipy_ndimage.sobel(EYE))


def of_tens() -> da.Array:
    """Return an array in blocks of a type with two backends, neither of which needs opt-in."""
    ten = importlib.import_module("marker").Ten
    return cut().map_blocks(ten, meta=ten(np.empty((0, 0))))


def test_what_is_disabled_is_so_on_the_workers(compute: Callable[[da.Array], Any]) -> None:
    """For backends without opt-in, omitting them from `prioritize` is not enough."""
    x = of_tens()
    first = ndimage.sobel(x)
    with backend_opts(disable="elevens"):
        second = ndimage.sobel(x)
        with backend_opts(disable="tens"):
            neither = ndimage.sobel(x)
    assert set(np.unique(compute(first))) == {ELEVENS}
    assert set(np.unique(compute(second))) == {TENS}
    np.testing.assert_array_equal(compute(neither), scipy_ndimage.sobel(EYE))


def test_options_of_the_whole_process_travel_too(compute: Callable[[da.Array], Any]) -> None:
    """Workers are other processes with their own process-wide defaults."""
    backend_opts(prioritize="sevens", trace=True).enable_globally()
    result = ndimage.sobel(cut())
    assert set(np.unique(compute(result))) == {SEVENS}
    # The trace contains the call only; calls on blocks are not traced, even in this process.
    assert [event.backend for event in backend_opts().trace or ()] == ["dask"]


def test_a_backend_that_the_workers_lack_is_named(client: Client, tmp_path: Path) -> None:
    with isolated(system, path=[install(tmp_path, "late")]):
        with backend_opts(prioritize="late"):
            result = ndimage.sobel(cut())
        with pytest.raises(UnknownBackendError, match="no backend is named 'late'"):
            client.compute(result).result(120)
