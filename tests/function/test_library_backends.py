"""The backends of a library as programs see them: listed, explained, discovered again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem, UnknownBackendError
from spatch_core.testing import isolated, write_distribution
from tests.function.conftest import HERE, Foreign, describe


def test_backends_map_names_to_descriptions() -> None:
    """F6: name -> description, by priority, the library under "default"."""
    system = BackendSystem(
        None,
        "MYLIB",
        [f"{HERE}:Own"],
        [describe("first"), describe("second", higher_priority_than=["first"])],
    )
    backends = system.backends
    assert list(backends) == ["default", "second", "first"]
    assert backends["second"].name == "second"
    assert [str(each) for each in backends["default"].primary_types] == [f"{HERE}:Own"]
    assert backends["first"].functions["lib:f"].function == f"{HERE}:record"
    assert len(backends) == 3
    assert "second" in backends
    assert backends.get("third") is None
    assert dict(backends) == backends == system.backends
    with pytest.raises(TypeError):
        backends["third"] = None  # type: ignore[index]
    with pytest.raises(KeyError):
        backends["third"]


@pytest.fixture
def library(tmp_path: Path) -> Any:
    """A library that finds what is installed into the folder."""
    system = BackendSystem("reloadlib.backends", "RELOADLIB")

    @system.dispatchable("x", module="lib", qualname="f")
    def f(x: Any) -> str:
        return "default"

    with isolated(system, path=[tmp_path]):
        yield system


def install(folder: Path, name: str = "late") -> Any:
    return write_distribution(
        folder,
        f"reloadlib-{name}",
        entry_points={"reloadlib.backends": {name: f"reloadlib_{name}:backend.toml"}},
        files={
            f"reloadlib_{name}/__init__.py": f"def f(x): return {name!r}\n",
            f"reloadlib_{name}/backend.toml": (
                f'name = "{name}"\nprimary_types = ["{HERE}:Foreign"]\n'
                f'[functions."lib:f"]\nfunction = "reloadlib_{name}:f"\n'
            ),
        },
    )


def test_users_reload_through_what_the_library_publishes(library: Any, tmp_path: Path) -> None:
    """F9: `backend_opts` is all that they have of the library's dispatching."""
    options = library.backend_opts
    assert options().backends == ("default",)
    install(tmp_path)
    options.reload()
    assert options().backends == ("default", "late")


def test_a_name_that_was_installed_meanwhile_is_explained(library: Any, tmp_path: Path) -> None:
    """S4: `reload` finds it; no misspelling is to be looked for."""
    options = library.backend_opts
    with pytest.raises(UnknownBackendError, match="no backend is named 'late'; installed: default"):
        options("late")
    install(tmp_path)
    with pytest.raises(UnknownBackendError, match=r"since then, call backend_opts\.reload\(\)"):
        options("late")
    options.reload()
    assert options("late").prioritized == ("late",)


@pytest.mark.parametrize("globally", [False, True], ids=["before", "after enable_globally"])
def test_variables_are_read_again_and_global_options_stay(
    library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, globally: bool
) -> None:
    """S11: the environment sets the default, until a program does."""
    f = library.functions["lib:f"]
    for name in ("a", "b"):
        install(tmp_path, name)
    library.reload()
    assert f(Foreign()) == "a"
    if globally:
        library.backend_opts("a").enable_globally()
    monkeypatch.setenv("RELOADLIB_PRIORITIZE", "b,misspelled")
    library.reload()
    assert f(Foreign()) == ("a" if globally else "b")
    assert library.backend_opts().prioritized == (("a",) if globally else ("b",))
