"""`isolated`: a fresh start for a block, and everything back after it."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import Distribution, isolated, write_distribution
from tests.testing.conftest import GROUP


def test_backends_on_the_path_are_there_for_the_block(
    system: BackendSystem, double: Any, distribution: Distribution
) -> None:
    assert double("text") == "default"

    with isolated(system, path=[distribution.folder]) as same:
        assert same is system
        assert double("text") == "loud"

    assert double("text") == "default"
    assert list(system.backends) == ["default"]


def test_the_environment_holds_for_the_block(
    system: BackendSystem,
    double: Any,
    distribution: Distribution,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For example, the library's own tests may block all backends."""
    monkeypatch.syspath_prepend(distribution.folder)
    monkeypatch.setenv("TESTING_REMOVED", "removed")
    monkeypatch.setenv("TESTING_CHANGED", "before")
    with isolated(
        system,
        environment={
            "TESTING_LIBRARY_BLOCK": "*",
            "TESTING_REMOVED": None,
            "TESTING_CHANGED": "in the block",
        },
    ):
        assert double("text") == "default"
        assert "TESTING_REMOVED" not in os.environ
        os.environ["TESTING_LEFT_BEHIND"] = "1"

    assert double("text") == "loud"
    assert "TESTING_LIBRARY_BLOCK" not in os.environ
    assert "TESTING_LEFT_BEHIND" not in os.environ
    assert os.environ["TESTING_REMOVED"] == "removed"
    assert os.environ["TESTING_CHANGED"] == "before"


def test_options_that_are_in_force_outside_are_not_in_the_block(
    system: BackendSystem,
    double: Any,
    distribution: Distribution,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(distribution.folder)
    with system.backend_opts(disable="loud"):
        assert double("text") == "default"
        with isolated(system):
            assert double("text") == "loud"
            assert system.backend_opts().disabled == ()
        assert double("text") == "default"
    assert double("text") == "loud"


def test_what_is_enabled_globally_in_the_block_ends_with_it(
    system: BackendSystem, double: Any, distribution: Distribution
) -> None:
    """A second block does not warn that it overrides the first."""
    for _ in range(2):
        with isolated(system, path=[distribution.folder]):
            system.backend_opts(disable="loud").enable_globally()
            assert double("text") == "default"

    assert system.backend_opts().disabled == ()


def test_what_is_enabled_globally_outside_is_not_in_the_block(
    system: BackendSystem,
    double: Any,
    distribution: Distribution,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(distribution.folder)
    system.backend_opts(disable="loud").enable_globally()
    with isolated(system):
        assert double("text") == "loud"

    assert double("text") == "default"
    assert system.backend_opts().disabled == ("loud",)


def test_docstrings_follow(system: BackendSystem, double: Any, distribution: Distribution) -> None:
    before = double.__doc__
    with isolated(system, path=[distribution.folder]):
        assert system.problems == ()
        assert "loud" in double.__doc__

    assert double.__doc__ == before


def test_modules_from_the_path_are_forgotten_and_others_kept(
    system: BackendSystem, double: Any, tmp_path: Path
) -> None:
    """The next test may have other modules with the same names."""
    for answer in ("one", "two"):
        distribution = write_distribution(
            tmp_path / answer,
            answer,
            entry_points={GROUP: {"loud": "testing_loud.backend:fields"}},
            files={
                "testing_loud/backend.py": f"""
                    import colorsys
                    fields = {{
                        "name": "loud",
                        "primary_types": ["builtins:str"],
                        "functions": {{
                            "testing_library:double": {{
                                "function": "testing_loud.backend:double"
                            }}
                        }},
                    }}
                    def double(x):
                        return {answer!r}
                """
            },
        )
        with isolated(system, path=[distribution.folder]):
            assert double("text") == answer

        assert not {"testing_loud", "testing_loud.backend"} & sys.modules.keys()
        assert "colorsys" in sys.modules
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("testing_loud")


def test_a_block_that_fails_puts_everything_back_too(
    system: BackendSystem, double: Any, distribution: Distribution
) -> None:
    path = list(sys.path)

    def fail() -> Iterator[None]:
        with isolated(
            system, path=[distribution.folder], environment={"TESTING_LIBRARY_BLOCK": "x"}
        ):
            assert double("text") == "loud"
            raise LookupError

    with pytest.raises(LookupError):
        list(fail())

    assert double("text") == "default"
    assert sys.path == path
    assert "TESTING_LIBRARY_BLOCK" not in os.environ


def test_blocks_nest(system: BackendSystem, double: Any, distribution: Distribution) -> None:
    with isolated(system, path=[distribution.folder]):
        with isolated(system, environment={"TESTING_LIBRARY_BLOCK": "loud"}):
            assert double("text") == "default"
        assert double("text") == "loud"


@pytest.mark.parametrize("value", ["x", None, sys], ids=["name", "None", "module"])
def test_it_takes_a_system(value: Any) -> None:
    with pytest.raises(TypeError, match=r"takes the BackendSystem of a library, not"):
        isolated(value).__enter__()
