"""Loading the backends of a library, and what follows them: state, tables, docstrings, options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import isolated, write_distribution

GROUP = "loading_library.backends"


def install(folder: Path, name: str) -> None:
    """Install a backend for strings."""
    write_distribution(
        folder,
        f"loading-{name}",
        entry_points={GROUP: {name: f"loading_{name}:backend.toml"}},
        files={
            f"loading_{name}/__init__.py": f"def f(x): return {name!r}",
            f"loading_{name}/backend.toml": f"""
                name = "{name}"
                primary_types = ["builtins:str"]
                functions."lib:f".function = "loading_{name}:f"
            """,
        },
    )


@pytest.fixture
def library() -> tuple[BackendSystem, Any]:
    system = BackendSystem(GROUP, "LOADING_LIBRARY", ["builtins:float"])
    return system, system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")


@pytest.mark.parametrize("globally", [False, True], ids=["before", "after enable_globally"])
def test_variables_are_read_again_and_global_options_stay(
    library: tuple[BackendSystem, Any], tmp_path: Path, globally: bool
) -> None:
    """S12: the environment sets the default, until a program does."""
    system, f = library
    for name in ("a", "b"):
        install(tmp_path, name)
    prioritize = {"LOADING_LIBRARY_PRIORITIZE": "b,misspelled"}
    with isolated(system, path=[tmp_path]):
        assert f("text") == "a"
        if globally:
            system.backend_opts("a").enable_globally()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(*prioritize.popitem())
            system.reload()
        assert f("text") == ("a" if globally else "b")
        assert system.backend_opts().prioritized == (("a",) if globally else ("b",))


def test_a_block_in_force_stays_in_force(
    library: tuple[BackendSystem, Any], tmp_path: Path
) -> None:
    """F11: with tables that are filled anew."""
    system, f = library
    install(tmp_path, "a")
    with isolated(system, path=[tmp_path]), system.backend_opts(disable="a"):
        assert f("text") == "default"
        install(tmp_path, "b")
        system.reload()
        assert f("text") == "b"
        assert system.backend_opts().disabled == ("a",)


def test_a_library_without_group_has_its_own_backends_alone() -> None:
    """F1: None is no group."""
    system = BackendSystem(
        None, "LOADING_LIBRARY", backends=[{"name": "own", "primary_types": ["builtins:str"]}]
    )
    assert list(system.backends) == ["default", "own"]
    assert system.problems == ()
