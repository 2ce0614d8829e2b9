"""Backends are loaded when they are first needed, once, and again when asked to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spatch_core import (
    BackendSkippedWarning,
    BackendSystem,
    UnknownBackendError,
)
from spatch_core.testing import Distribution, isolated, write_distribution

GROUP = "loader_library.backends"


@pytest.fixture
def system() -> BackendSystem:
    return BackendSystem(GROUP, "LOADER_LIBRARY", default_primary_types=["builtins:float"])


@pytest.fixture
def double(system: BackendSystem) -> Any:
    """A dispatchable function of the library."""

    @system.dispatchable("x", module="loader_library", qualname="double")
    def double(x: object) -> str:
        """Twice as much."""
        return "default"

    return double


@pytest.fixture
def site(tmp_path: Path, system: BackendSystem) -> Iterator[Path]:
    """A folder on the path, while the library is isolated."""
    with isolated(system, path=[tmp_path]):
        yield tmp_path


def install(folder: Path, name: str, rest: str = "", types: str = "'builtins:str'") -> Distribution:
    """Install a backend of the library, whose implementation returns its name."""
    return write_distribution(
        folder,
        f"{name}-dist",
        entry_points={GROUP: {name: f"loader_{name}:backend.toml"}},
        files={
            f"loader_{name}/__init__.py": f"def double(x):\n    return {name!r}\n",
            f"loader_{name}/backend.toml": f"""
                name = {name!r}
                primary_types = [{types}]
                {rest}
                [functions."loader_library:double"]
                function = "loader_{name}:double"
            """,
        },
    )


class TestReload:
    """`reload` discovers again, e.g. in a notebook after an installation."""

    def test_finds_backends_installed_meanwhile(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        assert double("text") == "default"
        install(site, "late")

        assert double("text") == "default"
        system.reload()

        assert double("text") == "late"
        assert list(system.backends) == ["default", "late"]

    def test_warns_of_a_backend_that_is_broken_now_at_the_line_that_calls_it(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        assert system.problems == ()
        install(site, "sick", rest="requires_opt_in = 0")

        with pytest.warns(BackendSkippedWarning) as caught:
            system.reload()

        assert [each.filename for each in caught] == [__file__]
        assert double("text") == "default"

    def test_keeps_blocks_in_force(self, system: BackendSystem, double: Any, site: Path) -> None:
        install(site, "shy", rest="requires_opt_in = true")
        with system.backend_opts(prioritize="shy"):
            assert double("text") == "shy"
            install(site, "bold")
            system.reload()

            assert double("text") == "shy"
        assert double("text") == "bold"

    def test_a_block_may_outlive_its_backend(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        distribution = install(site, "early")
        with system.backend_opts(prioritize="early"):
            distribution.remove()
            system.reload()

            assert double("text") == "default"
            with pytest.raises(UnknownBackendError):
                system.backend_opts(prioritize="early")

    @pytest.mark.parametrize("globally", [False, True], ids=["before", "after enable_globally"])
    def test_reads_variables_again_and_keeps_global_options(
        self,
        system: BackendSystem,
        double: Any,
        site: Path,
        monkeypatch: pytest.MonkeyPatch,
        globally: bool,
    ) -> None:
        """S8: the environment sets the default, until a program does."""
        for name in ("a", "b"):
            install(site, name)
        assert double("text") == "a"
        if globally:
            system.backend_opts("a").enable_globally()
        monkeypatch.setenv("LOADER_LIBRARY_PRIORITIZE", "b,misspelled")
        system.reload()
        assert double("text") == ("a" if globally else "b")

    def test_a_name_that_was_installed_meanwhile_is_explained(
        self, system: BackendSystem, site: Path
    ) -> None:
        """S4, F9: users reload through the options, which are published."""
        options = system.backend_opts
        assert options().backends == ("default",)
        install(site, "late")
        with pytest.raises(UnknownBackendError, match="installed since then, call back"):
            options("late")
        options.reload()
        assert options("late").prioritized == ("late",)
