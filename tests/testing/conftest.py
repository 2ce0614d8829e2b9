"""A library and a distribution with a backend of it, for the tests of the helpers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import Distribution, write_distribution
from tests.testing.pytest_runs import kit

__all__ = ["kit"]

GROUP = "testing_library.backends"


@pytest.fixture
def distribution(tmp_path: Path) -> Iterator[Distribution]:
    """A backend of the library below."""
    yield write_distribution(
        tmp_path / "site",
        "Loud.backend--dist",
        "1.2.3",
        entry_points={
            GROUP: {"loud": "testing_loud:backend.toml"},
            "spatch_core.libraries": {"x": "y:z"},
        },
        files={
            "testing_loud/__init__.py": """
                def double(x):
                    return "loud"
            """,
            "testing_loud/backend.toml": """
                name = "loud"
                primary_types = ["builtins:str"]
                [functions."testing_library:double"]
                function = "testing_loud:double"
            """,
            "testing_loud/bytes.bin": b"\xff\x00",
        },
    )
    sys.modules.pop("testing_loud", None)


@pytest.fixture
def system() -> BackendSystem:
    return BackendSystem(GROUP, "TESTING_LIBRARY", default_primary_types=["builtins:float"])


@pytest.fixture
def double(system: BackendSystem) -> Any:
    @system.dispatchable("x", module="testing_library", qualname="double")
    def double(x: object) -> str:
        return "default"

    return double
