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

    def test_forgets_backends_uninstalled_meanwhile(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        distribution = install(site, "early")
        assert double("text") == "early"
        distribution.remove()

        system.reload()

        assert double("text") == "default"
        assert "early" not in system.backends

    def test_reads_a_file_that_was_corrected_meanwhile(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        install(site, "sick", rest="requires_opt_in = 0")
        with pytest.warns(BackendSkippedWarning, match="requires_opt_in"):
            assert double("text") == "default"
        install(site, "sick", rest="requires_opt_in = false")

        system.reload()

        assert double("text") == "sick"
        assert system.problems == ()

    def test_warns_of_a_backend_that_is_broken_now_at_the_line_that_calls_it(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        assert system.problems == ()
        install(site, "sick", rest="requires_opt_in = 0")

        with pytest.warns(BackendSkippedWarning) as caught:
            system.reload()

        assert [each.filename for each in caught] == [__file__]
        assert double("text") == "default"

    def test_reads_the_environment_again(
        self, system: BackendSystem, double: Any, site: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install(site, "first")
        install(site, "second")
        assert double("text") == "first"

        monkeypatch.setenv("LOADER_LIBRARY_PRIORITIZE", "second")
        system.reload()
        assert double("text") == "second"

        monkeypatch.setenv("LOADER_LIBRARY_BLOCK", "second")
        system.reload()
        assert double("text") == "first"

        monkeypatch.delenv("LOADER_LIBRARY_PRIORITIZE")
        monkeypatch.setenv("LOADER_LIBRARY_BLOCK", "*")
        system.reload()
        assert double("text") == "default"

    def test_follows_with_the_docstring(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        distribution = install(site, "late")
        assert double("text") == "late"
        assert "Backends" in double.__doc__
        assert "late" in double.__doc__
        distribution.remove()

        system.reload()

        assert double.__doc__ == "Twice as much."

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

    def test_keeps_options_that_are_enabled_globally(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        install(site, "shy", rest="requires_opt_in = true")
        system.backend_opts(prioritize="shy").enable_globally()

        system.reload()

        assert double("text") == "shy"
