"""What takes the place of TensorLy's managers of backends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorly as tl
from tensorly import plugins, tenalg
from tensorly.backend.numpy_backend import NumpyBackend

from spatch_core.testing import run_python, write_distribution
from tensorly_dispatch import algebra, tensors

VECTOR = np.arange(3.0)


@pytest.fixture(autouse=True)
def _with_numpy() -> Iterator[None]:
    """Nothing that a test sets is left for the others."""
    with tl.backend_context("numpy"), tenalg.backend_context("core"):
        yield
    tl.set_backend("numpy")


def run(program: str, *options: str, **variables: str) -> None:
    run_python(program, options=options, environment=variables)


def test_a_framework_is_imported_when_it_is_chosen() -> None:
    """Neither importing TensorLy, nor listing the backends, nor using another one."""
    program = """
import sys
import tensorly_dispatch, tensorly as tl
assert {"default", "jax", "pytorch"} <= {*tensorly_dispatch.tensors.system.backends}
assert float(tl.dot(tl.ones(2), tl.ones(2))) == 2.0 and tl.float32
dir(tl)
assert not {"jax", "torch", "tensorflow", "cupy", "paddle"} & {*sys.modules}
tl.set_backend("jax")
assert "jax" in sys.modules
"""
    run(program, TENSORLY_BACKEND="numpy")


@pytest.mark.parametrize("first", ["tensorly", "tensorly_dispatch"])
def test_the_order_of_imports_does_not_matter(first: str) -> None:
    """What was set, and what was bound or kept anywhere, before the import follows."""
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
kept = [tl.dot, tl.get_backend, tl.set_backend]
if "{first}" == "tensorly":
    tl.set_backend(other, local_threadsafe=True)
    import tensorly_dispatch
    assert tl.backend.current_backend() is other
    set_backend("numpy")
assert dot is tl.dot is tl.backend.dot
assert dot(2, 3) == kept[0](2, 3) == 6
set_backend(other)
assert tl.get_backend() == dot(2, 3) == kept[0](2, 3) == kept[1]() == "other"
kept[2]("numpy")
assert tl.get_backend() == "numpy" and tl.dot(2, 3) == 6
"""
    )


def test_the_environment_names_the_first() -> None:
    """The thread that imports TensorLy has set it, so that another one does not replace it."""
    program = """
import threading, tensorly as tl, tensorly_dispatch
thread = threading.Thread(target=tl.set_backend, args=["numpy"])
thread.start()
thread.join()
assert (tl.get_backend(), tl.tenalg.get_backend()) == ("jax", "einsum")
assert type(tl.ones(2)).__module__.startswith("jax")
"""
    run(program, TENSORLY_BACKEND="jax", TENSORLY_TENALG_BACKEND="einsum")


@pytest.mark.parametrize("by", ["name", "environment"])
def test_a_backend_of_another_distribution(by: str, tmp_path: Path) -> None:
    """Everything finds it, and it has what it lacks from NumPy."""
    toml = """
name = "lists"
primary_types = ["builtins:list"]
attributes."tensorly.backend:float64" = "tl_lists:float64"
functions."tensorly.backend:dot".function = "tl_lists:dot"
"""
    code = "float64 = 'theirs'\ndef dot(a, b): return 'lists'"
    files = {"tl_lists/__init__.py": code, "tl_lists/backend.toml": toml}
    points = {"tensorly.backends": {"lists": "tl_lists:backend.toml"}}
    write_distribution(tmp_path, "tl-lists", files=files, entry_points=points)
    program = """
import numpy, pytest
import tensorly_dispatch, tensorly as tl
if tl.get_backend() == "numpy":
    tl.set_backend("lists")
lists = tl.backend.current_backend()
assert tl.get_backend() == tl.backend_name == lists.backend_name == "lists"
assert tl.dot([1], [2]) == lists.dot([1], [2]) == "lists"
assert tl.float32 is lists.float32 is numpy.float32
assert tl.float64 == tl.backend.float64 == lists.float64 == "theirs"
assert type(tl.ones(2)).__module__ == "numpy"
explained = " ".join(str(tl.ones.explain(2)).split())
assert "lists has no implementation" in explained
assert "> numpy runs: no backend takes the call" in explained
with pytest.raises(TypeError, match="those of its description"):
    tl.backend.register_backend_method("einsum", print)
with tl.backend_context("jax"):
    assert type(tl.ones(2)).__module__.startswith("jax")
    assert lists.dot([1], [2]) == "lists"
    with tl.backend_context(lists):
        assert tl.backend.load_backend("lists") is tl.backend.current_backend() is lists
assert tl.get_backend() == "lists"
"""
    named = {"TENSORLY_BACKEND": "lists"} if by == "environment" else {}
    run(program, "-W", "error", **named, PYTHONPATH=str(tmp_path))


def test_functions_and_attributes_follow() -> None:
    """Constructors, too; TensorLy's own functions are made of them."""
    import jax

    with tl.backend_context("jax"):
        assert isinstance(tl.tensor([1.0]), jax.Array)
        assert isinstance(tl.unfold(tl.tensor(np.ones((2, 2))), 0), jax.Array)
        assert tl.float32 is tl.backend.float32 is jax.numpy.float32
        assert tl.float64 is jax.numpy.float64
    assert type(tl.tensor([1.0])) is np.ndarray
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


def test_instances_are_backends() -> None:
    """Of a class of one's own, which TensorLy knows nothing of; and several of one class."""

    class Doubling(NumpyBackend, backend_name="doubling.numpy"):  # type: ignore[misc, call-arg]
        pi = 6.0

        @staticmethod
        def dot(a: Any, b: Any) -> Any:
            return 2 * np.dot(a, b)

    for each in (Doubling(), Doubling()):
        with tl.backend_context(each):
            assert tl.backend.current_backend() is each
            assert tl.get_backend() == "doubling.numpy"
            assert (tl.dot(VECTOR, VECTOR), tl.pi) == (10.0, 6.0)
    assert (tl.dot(VECTOR, VECTOR), tl.pi) == (5.0, np.pi)
    before = tenalg.current_backend()
    tenalg.set_backend(tenalg.load_backend("core"))
    assert tenalg.current_backend() is not before


def test_methods_can_be_exchanged() -> None:
    """TensorLy's plugins do so; attributes, too."""
    before = tl.einsum("i,i->", VECTOR, VECTOR), tl.pi
    for name, value in (("einsum", lambda *_: "mine"), ("pi", 3)):
        tl.backend.register_backend_method(name, value)
    try:
        assert (tl.einsum("i,i->", VECTOR, VECTOR), tl.pi) == ("mine", 3)
    finally:
        tl.backend.register_backend_method("einsum", np.einsum)
        tl.backend.register_backend_method("pi", np.pi)
    assert (tl.einsum("i,i->", VECTOR, VECTOR), tl.pi) == before
    plugins.use_default_einsum()
    tenalg.use_dynamic_dispatch()
    assert tenalg.mode_dot is algebra.functions["mode_dot"]


def test_the_examples_of_the_readme_run() -> None:
    """In a process of its own: they set backends for all threads."""
    readme = str(Path(__file__).parents[1] / "README.md")
    run(
        f"""
import doctest
failures, tests = doctest.testfile({readme!r}, module_relative=False)
assert tests and not failures
"""
    )
