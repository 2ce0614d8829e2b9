"""Attributes of modules that follow the current backend: rule W4."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem, ImplementationImportError
from spatch_core.switching import attributes
from spatch_core.testing import isolated, run_python, write_distribution

FOLDERS = [Path(spatch_core.__file__).parents[1]]

LIBRARY = """
from spatch_core import BackendSystem
from spatch_core.switching import Switch, attributes

system = BackendSystem("attrlib.backends", "ATTRLIB", ["builtins:float"])
switch = Switch(system)
fixed = "fixed"
__getattr__, __dir__ = attributes(
    system, __name__, {"float64": "own float64", "pi": 3, "fixed": "never"}
)
"""
JAX = """
    name = "jax"
    primary_types = ["attrjax:Array"]
    [attributes]
    "attrlib:float64" = "attrjax:float64"
    "attrlib:nothing" = "attrjax:nothing"
    "attrlib:gone" = "attrjax:gone"
    "attrlib:inside" = "attrjax:Array.dtype"
    "attrlib:itself" = "attrlib:itself"
    "attrlib.sub:pi" = "attrjax:float64"
"""
TORCH = """
    name = "torch"
    primary_types = ["attrtorch:Tensor"]
    [attributes]
    "attrlib:float64" = "attrtorch:float64"
    "attrlib:cuda" = "attrtorch:float64"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"jax": "attrback:jax.toml", "torch": "attrback:torch.toml"}
    write_distribution(
        tmp_path,
        "attr-backends",
        entry_points={"attrlib.backends": files},
        files={
            "attrlib/__init__.py": LIBRARY,
            "attrlib/sub.py": "loaded = True",
            "attrback/__init__.py": "",
            "attrback/jax.toml": JAX,
            "attrback/torch.toml": TORCH,
            "attrjax.py": (
                "float64, nothing = 'jax float64', None\nclass Array:\n    dtype = 'inside'"
            ),
            "attrtorch.py": "float64 = 'torch float64'",
        },
    )
    return tmp_path


@pytest.fixture
def lib(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(folder)
    module = importlib.import_module("attrlib")
    with isolated(module.system):
        yield module
    for name in [each for each in sys.modules if each.startswith("attr")]:
        del sys.modules[name]


def test_they_follow_the_current_backend(lib: Any) -> None:
    """W4: as set here and now; what is no attribute of backends stays."""
    assert (lib.float64, lib.pi, lib.fixed) == ("own float64", 3, "fixed")
    lib.switch.set_backend("jax")
    assert (lib.float64, lib.pi, lib.fixed) == ("jax float64", 3, "fixed")
    with lib.switch.backend_context("torch"):
        assert lib.float64 == "torch float64"
    with lib.switch.backend_context("default"):
        assert lib.float64 == "own float64"
    assert lib.float64 == "jax float64"
    lib.switch.previous_backend()
    assert lib.float64 == "own float64"


def test_none_is_a_value(lib: Any) -> None:
    """W4: and dotted names lead into classes."""
    with lib.switch.backend_context("jax"):
        assert lib.nothing is None
        assert lib.nothing is None
        assert lib.inside == "inside"


@pytest.mark.parametrize("again", ["reload", "refresh"])
def test_values_are_looked_up_again(lib: Any, again: str) -> None:
    """F9, W4: by `refresh` and `reload`, as implementations are."""
    with lib.switch.backend_context("jax"):
        assert lib.float64 == "jax float64"
        sys.modules["attrjax"].float64 = "changed"  # type: ignore[attr-defined]
        getattr(lib.system, again)()
        assert lib.float64 == "changed"
        assert lib.switch.get_backend() == "jax"


def test_nothing_is_imported_before_it_is_chosen(lib: Any) -> None:
    """W4: and nothing of the others then."""
    assert lib.float64 == "own float64"
    assert not {"attrjax", "attrtorch", "attrback"} & {*sys.modules}
    with lib.switch.backend_context("torch"):
        assert "attrtorch" not in sys.modules
        assert lib.float64 == "torch float64"
    assert not {"attrjax", "attrback"} & {*sys.modules}


def test_dir(lib: Any) -> None:
    """W4: what can be read now."""
    assert {"float64", "pi", "fixed", "system"} <= {*dir(lib)}
    assert not {"nothing", "cuda"} & {*dir(lib)}
    with lib.switch.backend_context("jax"):
        assert {"float64", "pi", "nothing", "fixed"} <= {*dir(lib)}
        assert "cuda" not in dir(lib)
    assert dir(lib) == sorted({*dir(lib)})


def test_names_without_a_value(lib: Any) -> None:
    """W4: with the backends that have it."""
    with pytest.raises(AttributeError, match=r"no attribute 'flot64'$") as caught:
        _ = lib.flot64
    assert caught.value.__context__ is None
    with pytest.raises(AttributeError, match=r"current backend is 'default'; these.*: torch"):
        _ = lib.cuda
    with lib.switch.backend_context("jax"):
        with pytest.raises(AttributeError, match=r"current backend is 'jax'; these.*: torch"):
            _ = lib.cuda
        with pytest.raises(AttributeError, match=r"no attribute 'xyz'$"):
            _ = lib.xyz
        assert not hasattr(lib, "absent")
        with pytest.raises(ImportError):
            from attrlib import absent  # type: ignore[import-not-found]  # noqa: F401


def test_an_identifier_that_leads_nowhere(lib: Any) -> None:
    """W4, E3: an error of its own, which names the backend."""
    with (
        lib.switch.backend_context("jax"),
        pytest.raises(ImplementationImportError, match="'attrjax:gone'") as caught,
    ):
        _ = lib.gone
    assert (caught.value.backend, caught.value.function) == ("jax", "attrlib:gone")
    assert isinstance(caught.value.__cause__, ImportError)


def test_importing_discovers_nothing(folder: Path) -> None:
    """W4, F9: neither the library, nor its submodules, nor what Python asks modules for."""
    run_python(
        """
        import inspect, os, sys

        import attrlib
        from attrlib import sub
        import attrlib.sub

        assert sub.loaded
        assert not hasattr(attrlib, "__all__")
        inspect.getmodule(attrlib)
        # The environment is read with the backends.
        os.environ["ATTRLIB_BACKEND"] = "jax"
        assert attrlib.float64 == "jax float64"
        """,
        path=[folder, *FOLDERS],
    )


def test_they_are_functions_of_the_module() -> None:
    """W4: by their names, for tools; and without values, no name has one."""
    find, names = attributes(BackendSystem(None, "LIB"), __name__)
    assert find.__module__ == names.__module__ == __name__
    with pytest.raises(AttributeError):
        find("float64")
