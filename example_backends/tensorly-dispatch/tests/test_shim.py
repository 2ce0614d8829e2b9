"""What takes the place of TensorLy's managers of backends."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tensorly as tl
from tensorly import plugins, tenalg
from tensorly.backend.numpy_backend import NumpyBackend

import tensorly_dispatch
from spatch_core.switching import namespace
from tensorly_dispatch import algebra, tensors

VECTOR = np.arange(3.0)


@pytest.fixture(autouse=True)
def _with_numpy() -> Iterator[None]:
    """Nothing that a test sets is left for the others."""
    with tl.backend_context("numpy"), tenalg.backend_context("core"):
        yield
    tl.set_backend("numpy")


def in_new_thread(function: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def run(program: str, **variables: str) -> None:
    subprocess.run([sys.executable, "-c", program], env={**os.environ, **variables}, check=True)


def test_a_framework_is_imported_when_it_is_chosen() -> None:
    """Neither importing TensorLy, nor listing the backends, nor using another one."""
    run(
        """
import sys
import tensorly_dispatch, tensorly as tl
assert {"numpy", "jax", "pytorch"} <= {*tensorly_dispatch.tensors.system.backends}
assert float(tl.dot(tl.ones(2), tl.ones(2))) == 2.0 and tl.float32
dir(tl)
assert not {"jax", "torch", "tensorflow", "cupy", "paddle"} & {*sys.modules}
tl.set_backend("jax")
assert "jax" in sys.modules
""",
        TENSORLY_BACKEND="numpy",
    )


@pytest.mark.parametrize("first", ["tensorly", "tensorly_dispatch"])
def test_the_order_of_imports_does_not_matter(first: str) -> None:
    """What was set, and what was bound, before the import follows."""
    run(
        f"""
import {first}
import tensorly as tl
from tensorly import dot, set_backend
from tensorly.backend.numpy_backend import NumpyBackend
from tensorly.decomposition import parafac

class Other(NumpyBackend, backend_name="other"):
    dot = staticmethod(lambda a, b: "other")

other = Other()
if "{first}" == "tensorly":
    tl.set_backend(other, local_threadsafe=True)
    import tensorly_dispatch
    assert tl.backend.current_backend() is other
    set_backend("numpy")
assert dot is tl.dot is tl.backend.dot
assert dot(2, 3) == 6
set_backend(other)
assert tl.get_backend() == dot(2, 3) == "other"
"""
    )


def test_the_environment_names_the_first() -> None:
    """`TENSORLY_BACKEND`, and that of the tensor algebra."""
    program = """
import tensorly_dispatch, tensorly as tl
assert (tl.get_backend(), tl.tenalg.get_backend()) == ("jax", "einsum")
assert type(tl.ones(2)).__module__.startswith("jax")
"""
    run(program, TENSORLY_BACKEND="jax", TENSORLY_TENALG_BACKEND="einsum")


def test_functions_and_attributes_follow() -> None:
    """Constructors, too; TensorLy's own functions are made of them."""
    import jax

    tensor = tl.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert type(tensor) is np.ndarray
    with tl.backend_context("jax"):
        assert isinstance(tl.tensor([1.0]), jax.Array)
        assert isinstance(tl.unfold(tl.tensor(tensor), 0), jax.Array)
        assert tl.float32 is tl.backend.float32 is jax.numpy.float32
        assert tl.float64 is jax.numpy.float64
    assert tl.float32 is tl.backend.float32 is np.float32
    assert {"dot", "float32", "backend_name"} <= {*dir(tl)}


@pytest.mark.parametrize("manager", [tl, tenalg], ids=["tensors", "algebra"])
def test_what_is_no_backend(manager: Any) -> None:
    """TensorLy's own error, and nothing has changed."""
    before = manager.get_backend(), {**tensors.system.backends}, {**algebra.system.backends}
    for wrong in ("jx", "Jax", "", None, 3, b"jax", NumpyBackend, tl):
        for function in (manager.set_backend, manager.backend_context):
            with pytest.raises(ValueError, match="Unknown backend name"):
                function(wrong)
    with pytest.raises(TypeError, match="unhashable"):
        manager.set_backend(["jax"])
    after = manager.get_backend(), {**tensors.system.backends}, {**algebra.system.backends}
    assert after == before


def test_set_backend_is_for_all_or_for_one_thread() -> None:
    """As TensorLy documents it."""
    seen = []

    def work() -> None:
        tl.set_backend("jax", local_threadsafe=True)
        seen.append(tl.get_backend())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    with tl.backend_context("jax", local_threadsafe=True):
        seen += [tl.get_backend(), in_new_thread(tl.get_backend)]
    with tl.backend_context("jax"):
        seen += [tl.get_backend(), in_new_thread(tl.get_backend)]
    seen += [tl.get_backend(), in_new_thread(tl.get_backend)]
    assert seen == ["jax", "jax", "numpy", "jax", "jax", "numpy", "numpy"]


def test_an_unknown_name_changes_nothing() -> None:
    """The error is TensorLy's."""
    for wrong in (tl.set_backend, tl.backend_context):
        with pytest.raises(ValueError, match="Unknown backend name 'nump'"):
            wrong("nump")
    assert tl.get_backend() == "numpy"


def test_instances_are_backends() -> None:
    """Of a class of one's own, which TensorLy knows nothing of; and several of one class."""

    class Doubling(NumpyBackend, backend_name="doubling.numpy"):  # type: ignore[misc, call-arg]
        pi = 6.0

        @staticmethod
        def dot(a: Any, b: Any) -> Any:
            return 2 * np.dot(a, b)

    one, two = Doubling(), Doubling()
    for each in (one, two):
        with tl.backend_context(each):
            assert tl.backend.current_backend() is each
            assert tl.get_backend() == "doubling.numpy"
            assert (tl.dot(VECTOR, VECTOR), tl.pi) == (10.0, 6.0)
    assert (tl.dot(VECTOR, VECTOR), tl.pi) == (5.0, np.pi)
    before = tenalg.current_backend()
    tenalg.set_backend(tenalg.load_backend("core"))
    assert tenalg.current_backend() is not before


def test_methods_can_be_exchanged() -> None:
    """TensorLy's plugins do so."""
    before = tl.einsum("i,i->", VECTOR, VECTOR)
    tl.backend.register_backend_method("einsum", lambda *_: "mine")
    try:
        assert tl.einsum("i,i->", VECTOR, VECTOR) == "mine"
    finally:
        tl.backend.register_backend_method("einsum", np.einsum)
    assert tl.einsum("i,i->", VECTOR, VECTOR) == before
    plugins.use_default_einsum()
    tenalg.use_dynamic_dispatch()
    assert tenalg.mode_dot is algebra.functions["mode_dot"]


def test_what_spatch_core_adds() -> None:
    """Traces, explanations, namespaces, pickles of functions."""
    with tensors.system.backend_opts(trace=True) as trace:
        tl.dot(VECTOR, VECTOR)
    assert [(event.function, event.backend) for event in trace] == [
        ("tensorly.backend:dot", "numpy")
    ]
    assert tl.dot.explain(VECTOR, VECTOR).selected == "numpy"
    assert pickle.loads(pickle.dumps(tl.dot)) is tl.dot
    jax = namespace(tl, backend="jax", system=tensors.system)
    assert type(jax.tensor([1.0])).__module__.startswith("jax")
    assert tensorly_dispatch.tensors.switch.get_backend() == "numpy"
