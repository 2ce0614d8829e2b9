"""The backends of a library as programs see them: listed, explained, discovered again."""

from __future__ import annotations

import pytest

from spatch_core import BackendSystem
from tests.function.conftest import HERE, describe


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
