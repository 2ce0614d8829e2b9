"""The work on a block: a call of `scipy_dispatch` for the block's type, in any process."""

from __future__ import annotations

from pathlib import Path

import dask
import dask.array as da
import numpy as np
from comparison import lazily
from scipy import ndimage as scipy_ndimage

from scipy_dispatch import backend_opts, ndimage
from spatch_core.testing import run_python, write_distribution

X = np.random.default_rng(1).random((12, 15))

MARKER = {
    "marker/backend.toml": """
        name = "marker"
        primary_types = ["numpy:ndarray"]
        requires_opt_in = true

        [functions."scipy_dispatch.ndimage:sobel"]
        function = "marker.sobel:sobel"
    """,
    "marker/__init__.py": "",
    "marker/sobel.py": """
        import numpy as np

        def sobel(input, axis=-1, output=None, mode="reflect", cval=0.0):
            return np.full(input.shape, 7.0)
    """,
}


def run_with_marker(folder: Path, code: str) -> None:
    """Run `code` in an environment with a backend for NumPy arrays that returns sevens."""
    write_distribution(
        folder,
        "marker",
        entry_points={"scipy_dispatch.backends": {"marker": "marker:backend.toml"}},
        files=MARKER,
    )
    run_python(code, path=[folder])


def test_each_block_goes_to_the_backend_for_its_type(tmp_path: Path) -> None:
    """Blocks use the backends that were prioritized at the time of the call."""
    run_with_marker(
        tmp_path,
        """
        import dask.array as da
        import numpy as np
        from scipy_dispatch import backend_opts, ndimage

        x = da.from_array(np.eye(9), chunks=4)
        with backend_opts(prioritize="marker"):
            sevens = ndimage.sobel(x)
        gradients = ndimage.sobel(x)
        assert (sevens.compute(scheduler="threads") == 7).all()
        with backend_opts(prioritize="marker"):
            assert not (gradients.compute(scheduler="synchronous") == 7).any()
        assert sevens.name != gradients.name
        """,
    )


def test_other_processes_use_the_same_backends(tmp_path: Path) -> None:
    """Graphs carry the names of the prioritized backends."""
    run_with_marker(
        tmp_path,
        """
        import dask
        import dask.array as da
        import numpy as np
        from scipy_dispatch import backend_opts, ndimage

        if __name__ == "__main__":
            x = da.from_array(np.eye(9), chunks=(5, 9))
            with backend_opts(prioritize="marker"):
                sevens = ndimage.sobel(x)
            gradients = ndimage.sobel(x)
            sevens, gradients = dask.compute(
                sevens, gradients, scheduler="processes", num_workers=1
            )
            assert (sevens == 7).all()
            from scipy.ndimage import sobel
            assert (gradients == sobel(np.eye(9))).all()
        """,
    )


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
