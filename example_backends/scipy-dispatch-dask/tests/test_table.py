"""Every function in the table: described, lazy, correct, and deterministic."""

from __future__ import annotations

import pickle
import sys
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from itertools import product
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
from comparison import assert_same, computed, lazily
from samples import SERVED, an_array, arguments, check_sample
from tolerances import TOLERANCES

from scipy_dispatch import system
from scipy_dispatch_dask import _implement
from scipy_dispatch_dask._table import TABLES
from spatch_core.testing import run_python

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MODULES = ("ndimage", "signal", "fft")


def outcome(result: Any) -> list[da.Array]:
    """Return the lazy parts of a result."""
    return [each for each in (result if isinstance(result, tuple) else (result,)) if _lazy(each)]


def _lazy(value: Any) -> bool:
    return isinstance(value, da.Array)


def cut(name: str) -> da.Array:
    x = an_array(name)
    return da.from_array(x, chunks=tuple(1 + length // 2 for length in x.shape))


def test_every_function_has_a_tolerance_with_a_reason() -> None:
    assert set(TOLERANCES) == {
        f"{module.removeprefix('scipy_dispatch.')}.{name}"
        for module, table in TABLES.items()
        for name in table
    }
    for kinds in TOLERANCES.values():
        assert set(kinds) == {"integers", "single", "double"}
        assert all(each.reason for each in kinds.values())
        assert kinds["integers"][:2] == (0, 0)


def test_description_and_registry_agree() -> None:
    """The description file lists the registered functions."""
    for module in MODULES:
        import_module(f"scipy_dispatch_dask.{module}")
    text = files("scipy_dispatch_dask").joinpath("backend.toml").read_text(encoding="utf-8")
    functions = tomllib.loads(text)["functions"]
    defaults = functions.pop("defaults")
    assert functions.pop("auto-generation")["modules"] == [
        f"scipy_dispatch_dask.{module}" for module in MODULES
    ]
    registered = _implement.backend.functions
    described = {
        name: {**defaults, **fields}
        for name, fields in functions.items()
        if name.removeprefix("scipy_dispatch.").replace(":", ".") in SERVED
    }
    assert described == {
        name: {
            "function": each.identifier,
            "should_run": each.should_run,
            "uses_context": each.uses_context,
            "additional_docs": (each.function.__doc__ or "").partition("\n\n")[0],
        }
        for name, each in registered.items()
    }


def test_the_backend_is_found_and_sound() -> None:
    (entry_point,) = entry_points(group="scipy_dispatch.backends", name="dask")
    assert entry_point.value == "scipy_dispatch_dask:backend.toml"
    assert "dask" in system.backends
    assert not [each for each in system.problems if "dask" in str(each)]


def test_dask_is_not_imported_for_numpy_arrays() -> None:
    """Only the description file is read until a function receives a Dask array."""
    run_python(
        """
        import sys
        import numpy as np
        from scipy_dispatch import ndimage
        ndimage.sobel(np.eye(3))
        assert "dask" in ndimage.sobel.backends
        assert "dask" not in sys.modules and "scipy_dispatch_dask" not in sys.modules
        """
    )


@pytest.mark.parametrize("name", SERVED)
def test_the_result_is_scipy_s(name: str) -> None:
    """The graph is built under a scheduler that fails if anything is computed."""
    check_sample(name, an_array(name), cut(name))


@pytest.mark.parametrize("name", SERVED)
def test_the_same_call_has_the_same_name(name: str) -> None:
    """Equal names let Dask compute a repeated call once."""
    lazy = cut(name)
    first, again = (outcome(lazily(name, **arguments(name, lazy))) for _ in range(2))
    assert [each.name for each in first] == [each.name for each in again]


@pytest.mark.parametrize("name", SERVED)
def test_graphs_can_be_pickled(name: str) -> None:
    """Pickling supports workers in other processes, with and without Dask's serialization."""
    results = outcome(lazily(name, **arguments(name, cut(name))))
    copies = pickle.loads(pickle.dumps(results))
    again = cloudpickle.loads(cloudpickle.dumps(results))
    for result, copy, other in zip(results, copies, again, strict=True):
        assert result.name == copy.name == other.name
        assert_same(computed(copy), computed(result))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("ndimage.gaussian_filter", {"sigma": 1}),
        ("ndimage.grey_opening", {"size": 3}),
        ("signal.convolve", {"in2": np.ones((3, 3))}),
        ("signal.medfilt", {}),
    ],
)
def test_blocks_stay_blocks(name: str, given: dict[str, Any]) -> None:
    """A task for a neighbourhood needs adjacent blocks, not the whole array."""
    result = lazily(name, da.ones((20, 20), chunks=10), **given)
    assert max(map(max, result.chunks)) <= 12
    assert result.npartitions >= 4


def test_transforms_never_need_the_whole_array() -> None:
    """For several axes, lines are split again after each axis."""
    x = da.zeros((64, 64, 64), chunks=16)
    for name in (
        *("fft.fftn", "fft.rfftn", "fft.irfftn", "fft.dctn", "fft.ihfftn"),
        "ndimage.spline_filter",
    ):
        result = lazily(name, x)
        assert max(map(np.prod, product(*result.chunks))) <= 64 * 16 * 16 * 8


def test_blocks_of_lines_are_no_larger_than_dask_likes() -> None:
    """Whole lines of a large array are split along the other axes."""
    x = da.zeros((4000, 4000), chunks=500)
    with dask.config.set({"array.chunk-size": "4MiB"}):
        results = [lazily("fft.fft2", x), lazily("fft.dctn", x)]
        results += [lazily("signal.detrend", x, axis=axis) for axis in (0, 1)]
        results += [lazily("signal.periodogram", x, axis=axis)[1] for axis in (0, 1)]
        results += [lazily("signal.welch", x, axis=axis)[1] for axis in (0, 1)]
    for result in results:
        assert max(map(np.prod, product(*result.chunks))) <= 2**22 // 8
        # A spectrum is shorter than its line.
        assert min(max(sizes) for sizes in result.chunks) <= 2**22 // 8 // 4000
    with dask.config.set({"array.chunk-size": "128MiB"}):
        assert lazily("signal.detrend", x, axis=0).chunks == ((4000,), (500,) * 8)
