"""Names and types are checked when options are made."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem, UnknownBackendError


class Foreign:
    """The backend's type."""


@pytest.fixture
def system() -> BackendSystem:
    return BackendSystem(
        None, "MYLIB", backends=[{"name": "first", "primary_types": [f"{__name__}:Foreign"]}]
    )


@pytest.mark.parametrize("option", ["prioritize", "disable"])
@pytest.mark.parametrize("value", [3, b"first"], ids=repr)
def test_names_must_be_names(system: BackendSystem, option: str, value: Any) -> None:
    """S5: a value that is not names gives another error than an unknown name."""
    options: dict[str, Any] = {option: value}
    with pytest.raises(TypeError, match=rf"^{option}= takes the name of a backend, or several"):
        system.backend_opts(**options)


def test_names_are_compared_without_case(system: BackendSystem) -> None:
    """S5: the nearest name may differ only in case."""
    with pytest.raises(UnknownBackendError, match=r"did you mean 'first'\?"):
        system.backend_opts(prioritize="FIRST")
