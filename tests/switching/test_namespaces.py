"""`namespace`: a library's module with one backend in force in its functions; rule W4."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem, UnknownBackendError
from spatch_core.switching import namespace
from spatch_core.testing import isolated, write_distribution

LIBRARY = """'The library.'
import functools
import math
from fractions import Fraction

from spatch_core import BackendSystem
from spatch_core.switching import Switch, attributes

system = BackendSystem("spacelib.backends", "SPACELIB", ["builtins:float"])
switch = Switch(system)
__getattr__, __dir__ = attributes(system, __name__, {"float64": "own"})
constant = 3


class Thing:
    pass


@system.dispatchable("x")
def tensor(x=None):
    '''Make a tensor.'''
    return "own"


def composed(x=None, *, twice=False):
    return [tensor(x), system.backend_opts().backend]


@system.dispatchable("x")
async def later(x=None):
    return "own"


def steps():
    yield tensor([1])
    yield tensor([1])


short = functools.partial(tensor, [1])
numbered = functools.lru_cache(composed)


class Tool:
    def use(self):
        return tensor([1])

    def __call__(self):
        return tensor([1])


tool = Tool()
use = tool.use

from . import linalg, other
"""
SUB = """
from . import other, system, tensor


def norm(x):
    return f"norm by {tensor([1])}"
"""
TOML = """
    primary_types = ["spacegpu:Array"]
    [attributes]
    "spacelib:float64" = "spacegpu:float64"
    [functions."spacelib:tensor"]
    function = "spacegpu:tensor"
    [functions."spacelib:later"]
    function = "spacegpu:later"
"""
GPU = """
float64 = "gpu float64"


class Array:
    pass


def tensor(x=None):
    return "gpu"


async def later(x=None):
    return "gpu"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_distribution(
        tmp_path,
        "space-gpu",
        entry_points={"spacelib.backends": {"gpu": "spaceback:gpu.toml"}},
        files={
            "spacelib/__init__.py": LIBRARY,
            "spacelib/linalg.py": SUB,
            "spacelib/other.py": "from . import tensor\ndef norm(x): return tensor([1])",
            "spaceback/__init__.py": "",
            "spaceback/gpu.toml": f'name = "gpu"\n{TOML}',
            "spacegpu.py": GPU,
        },
    )
    return tmp_path


@pytest.fixture
def lib(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(folder)
    module = importlib.import_module("spacelib")
    with isolated(module.system):
        yield module
    for name in [each for each in sys.modules if each.startswith("space")]:
        del sys.modules[name]


def test_functions_have_the_backend(lib: Any) -> None:
    """W4: dispatchables, functions that call some, and those of submodules."""
    gpu = namespace(lib, backend="gpu")
    assert (gpu.tensor([1]), lib.tensor([1])) == ("gpu", "own")
    assert gpu.composed([1], twice=True) == ["gpu", "gpu"]
    assert gpu.linalg.norm(3) == "norm by gpu"
    assert lib.linalg.norm(3) == "norm by own"
    assert gpu.tensor(1.5) == "own"  # types decide
    assert lib.system.backend_opts().backend is None


def test_functions_of_all_kinds_and_modules(lib: Any) -> None:
    """W4: partial ones, methods, what decorators made; modules beside and above this one."""
    gpu = namespace(lib, backend="gpu")
    assert (gpu.short(), gpu.use(), gpu.numbered()) == ("gpu", "gpu", ["gpu", "gpu"])
    gpu.numbered.cache_clear()
    assert lib.numbered() == ["own", None]
    assert gpu.tool is lib.tool
    assert gpu.system is lib.system
    assert gpu.linalg.other.norm(1) == gpu.other.norm(1) == "gpu"
    assert namespace(lib.linalg, backend="gpu").other.norm(1) == "gpu"
    for name in ("short", "use"):
        assert pickle.loads(pickle.dumps(getattr(gpu, name)))() == "gpu"
    assert lib.use() == "own"


def test_the_rest_is_the_modules_own(lib: Any) -> None:
    """W4: classes, values and what the library has imported; attributes follow."""
    gpu = namespace(lib, backend="gpu")
    assert gpu.Thing is lib.Thing
    assert gpu.Fraction is lib.Fraction
    assert gpu.math is sys.modules["math"]
    assert (gpu.constant, gpu.__name__) == (3, "spacelib")
    assert (gpu.float64, lib.float64) == ("gpu float64", "own")
    lib.constant = 4
    assert gpu.constant == 4
    with pytest.raises(AttributeError, match="no attribute 'tenso'"):
        _ = gpu.tenso


def test_it_looks_like_the_module(lib: Any) -> None:
    """W4: `dir`, signatures and docstrings; the same objects again."""
    gpu = namespace(lib, backend="gpu")
    assert {*dir(lib)} <= {*dir(gpu)}
    assert {"tensor", "linalg", "float64"} <= {*dir(gpu)}
    assert gpu.tensor is gpu.tensor
    assert gpu.linalg is gpu.linalg
    assert gpu.linalg.norm is gpu.linalg.norm
    assert inspect.signature(gpu.composed) == inspect.signature(lib.composed)
    assert gpu.tensor.__doc__ == lib.tensor.__doc__
    assert gpu.tensor.__name__ == "tensor"
    assert gpu.tensor.explain([1]).selected == "gpu"
    assert (gpu.__doc__, gpu.linalg.__doc__) == ("The library.", None)
    assert repr(gpu) == "<namespace of spacelib with backend='gpu'>"
    assert repr(gpu.tensor) == "<tensor of <namespace of spacelib with backend='gpu'>>"
    assert not hasattr(gpu.tensor, "invoke")


def test_it_cannot_be_changed(lib: Any) -> None:
    """W4: the module can."""
    gpu = namespace(lib, backend="gpu")
    with pytest.raises(AttributeError, match="constant"):
        gpu.constant = 5
    with pytest.raises(AttributeError, match="constant"):
        del gpu.constant
    assert lib.constant == 3


def test_coroutines_and_generators(lib: Any) -> None:
    """W4, S5: the backend is in force in each step; the body of a generator is refused."""
    gpu = namespace(lib, backend="gpu")
    assert inspect.iscoroutinefunction(gpu.later)
    assert asyncio.run(gpu.later([1])) == "gpu"
    with pytest.raises(TypeError, match="generator function"):
        gpu.steps()


def test_pickles(lib: Any) -> None:
    """W4: by reference, submodules and functions too."""
    gpu = namespace(lib, backend="gpu")
    for each in (gpu, gpu.linalg, gpu.tensor, gpu.linalg.norm):
        found = pickle.loads(pickle.dumps(each))
        assert repr(found) == repr(each)
    assert pickle.loads(pickle.dumps(gpu.composed))([1]) == ["gpu", "gpu"]
    assert len(pickle.dumps(gpu)) < 250


def test_mistakes(lib: Any) -> None:
    """W4: at once, and by name."""
    with pytest.raises(UnknownBackendError, match="did you mean 'gpu'"):
        namespace(lib, backend="gpx")
    with pytest.raises(TypeError, match="takes a module"):
        namespace("spacelib", backend="gpu")
    with pytest.raises(TypeError, match="no BackendSystem is known for module 'asyncio'"):
        namespace(asyncio, backend="gpu")
    with pytest.raises(UnknownBackendError):
        namespace(lib, backend="gpu", system=BackendSystem(None, "OTHER"))
    assert namespace(lib, backend="gpu", system=lib.system).tensor([1]) == "gpu"
