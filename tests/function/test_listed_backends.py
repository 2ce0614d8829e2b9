"""The backends of a library as a mapping."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from spatch_core import BackendSystem

BACKENDS = [{"name": name, "primary_types": ["m:T"]} for name in ("one", "two")]


def test_it_is_a_mapping_that_cannot_be_changed() -> None:
    """In the order of priority; equal to others with the same content."""
    system = BackendSystem(None, "LISTED", backends=BACKENDS)
    found: Any = system.backends
    assert [*found] == ["default", "one", "two"]
    assert len(found) == 3
    assert "two" in found
    assert found.get("three") is None
    assert dict(found) == found == system.backends
    assert copy.copy(found) == found
    with pytest.raises(TypeError):
        found["three"] = found["one"]
    with pytest.raises(KeyError):
        found["three"]


def test_people_see_the_names() -> None:
    """As text."""
    found: Any = BackendSystem(None, "LISTED", backends=BACKENDS).backends
    assert str(found) == "default, one, two"
