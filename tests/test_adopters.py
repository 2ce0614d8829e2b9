"""What SciPy and scikit-image need of dispatching, built on the installed SciPy, with JAX.

SciPy's pull request 23493 makes functions of `scipy.signal` dispatchable by backends in its own
code. Scikit-image's 7727 and cuCIM's 829 discuss a backend that computes for NumPy's arrays.
"""

from __future__ import annotations

import inspect
import pickle
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import pytest

from spatch_core import BackendSystem

pytest.importorskip("scipy", reason="SciPy need not be installed")
pytest.importorskip("jax", reason="JAX need not be installed")

import jax
import jax.numpy as jnp
import numpy as np
from scipy import signal

ORIGINAL = {name: getattr(signal, name) for name in ("convolve", "welch", "lfilter", "firwin")}
DATA = np.sin(np.arange(400.0))


def find_lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> tuple[Any, ...]:
    return b, a, x, zi


FINDERS: dict[str, Any] = {
    "convolve": lambda in1, in2, *args, **kwargs: (in1, in2),
    "welch": lambda x, *args, **kwargs: (x,),
    "lfilter": find_lfilter,
    "firwin": lambda *args, **kwargs: (),  # no array decides
}
"""What finds the dispatch arguments of each function."""


class Elsewhere:
    """The functions of a module that is imported when the first of them is looked up."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.module), name)


jax_signal = Elsewhere("jax.scipy.signal")
cupy_signal = Elsewhere("cupyx.scipy.signal")


def describe(name: str, types: list[str], functions: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "primary_types": types,
        "secondary_types": ["~numpy:ndarray"],
        "functions": {
            f"scipy.signal:{each}": {"function": f"{__name__}:{name}_signal.{each}"}
            for each in functions
        },
    }


def on_device(in1: Any, in2: Any, mode: Any = "full", method: str = "auto") -> Any:
    """Convolve NumPy's arrays where JAX computes, and return one of NumPy's."""
    return np.asarray(jax.scipy.signal.convolve(jnp.asarray(in1), jnp.asarray(in2), mode, method))


DEVICE = {
    "name": "device",
    "primary_types": ["numpy:ndarray"],
    "requires_opt_in": True,
    "functions": {"scipy.signal:convolve": {"function": on_device}},
}


class RunsElsewhere(UserWarning):
    """The note that a function has run on another backend for the first time."""


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> Iterator[BackendSystem]:
    """Make `scipy.signal` dispatchable, as the pull request does."""
    system = BackendSystem(
        None,
        "SCIPY_SIGNAL_TEST",
        ["~numpy:ndarray"],
        backends=[
            describe("cupy", ["cupy:ndarray"], [*FINDERS]),
            describe("jax", ["~jax:Array", "~jax.core:Tracer"], ["convolve", "welch"]),
            DEVICE,
        ],
        notify=RunsElsewhere,
        default_name="scipy",
    )
    for name, find in FINDERS.items():
        dispatchable = system.dispatchable(find, module="scipy.signal", qualname=name)
        monkeypatch.setattr(signal, name, dispatchable(ORIGINAL[name]))
    yield system
    system.backend_opts.reset_globally()


@pytest.mark.filterwarnings("ignore::tests.test_adopters.RunsElsewhere")
def test_backends_in_the_librarys_own_code(system: BackendSystem) -> None:
    """JAX's arrays run on JAX, also when they are traced, and beside NumPy's arrays."""
    array = jnp.asarray(DATA)
    for found in (
        signal.convolve(array, array),
        signal.convolve(DATA, in2=array),
        jax.jit(lambda x: signal.convolve(x, x))(array),
    ):
        assert isinstance(found, jax.Array)
        np.testing.assert_allclose(found, ORIGINAL["convolve"](DATA, DATA), atol=1e-3)
    frequencies, density = signal.welch(array, fs=10.0, nperseg=100)
    assert isinstance(density, jax.Array)
    np.testing.assert_allclose(density, ORIGINAL["welch"](DATA, 10.0, nperseg=100)[1], atol=1e-4)
    assert frequencies.shape == density.shape


def test_nothing_changes_for_what_the_library_has(system: BackendSystem) -> None:
    """Results, signatures, names and pickles are those of SciPy."""
    assert (signal.convolve(DATA, DATA) == ORIGINAL["convolve"](DATA, DATA)).all()
    assert (signal.convolve([1, 2], [3]) == [3, 6]).all()
    assert (signal.firwin(5, 0.3) == ORIGINAL["firwin"](5, 0.3)).all()
    for name, original in ORIGINAL.items():
        function: Any = getattr(signal, name)
        assert inspect.signature(function) == inspect.signature(original)
        assert (function.__module__, function.__name__) == ("scipy.signal", name)
        assert pickle.loads(pickle.dumps(function)) is function
    with pytest.raises(TypeError, match=r"convolve\(\) missing .*'in2'"):
        signal.convolve(DATA)


def test_a_function_that_a_backend_lacks_is_explained(system: BackendSystem) -> None:
    """It runs on SciPy, as before; a type that is only named decides as an argument does."""
    array = jnp.asarray(DATA)
    assert isinstance(signal.lfilter([1.0], [1.0, 0.5], array), np.ndarray)
    lfilter: Any = signal.lfilter
    explained = " ".join(str(lfilter.explain([1.0], [1.0, 0.5], array)).split())
    assert "jax has no implementation" in explained
    assert "> scipy runs" in explained
    with system.backend_opts(type="cupy:ndarray"):
        explained = str(lfilter.explain([1.0], [1.0, 0.5], zi=DATA, x=DATA))
    # CuPy's function is imported, which fails where CUDA's libraries are missing.
    assert "> cupy" in explained or "cupy    would raise: ImplementationImportError" in explained


def test_one_keyword_sets_a_backend_for_the_process(system: BackendSystem) -> None:
    """It computes for NumPy's arrays elsewhere, and says so the first time; not unasked."""

    def use(*, backends: str) -> None:  # what the library publishes
        system.backend_opts(prioritize=backends).enable_globally()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        signal.convolve(DATA, DATA)  # merely installed
    use(backends="device")
    with pytest.warns(RunsElsewhere, match=r"scipy.signal:convolve is run by the backend 'device'"):
        first = signal.convolve(DATA, DATA)
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(signal.convolve, DATA, DATA).result()
    assert type(first) is type(second) is np.ndarray
    assert first.dtype == second.dtype == np.float32  # JAX's default
    assert signal.welch(DATA)[1].dtype == np.float64  # the backend does not have it
