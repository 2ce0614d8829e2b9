"""What counts as blocked for an examination."""

from __future__ import annotations

import os

import pytest

from spatch_core import BackendSystem
from spatch_core.examination.blocking import blocking, honoured, honoured_block


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("gpu,threads", "gpu,threads"),
        (" gpu , ", "gpu"),
        ("gpu threads", "gpu,threads"),
        ("gpu,?", "gpu"),
        ("?;'gpu'", "gpu"),
        ("default,gpu", "gpu"),
        ("Gpu", "Gpu,gpu"),
        ("GPU", "GPU"),
        ("*", "*"),
        ("*, !gpu", "*,!gpu"),
        ("*;!gpu", "*"),
        ("*,! gpu", "*"),
        ("!gpu", "gpu"),
        ("a*", "a"),
        ("?", ""),
    ],
)
def test_every_name_in_a_value_counts(value: str, expected: str) -> None:
    """S13, S14: a name in another case counts only if no backend has the exact name."""
    assert honoured_block(value, ["gpu", "GPU" if value == "GPU" else "threads"]) == expected


def test_other_variables_stay_as_they_are() -> None:
    """BLOCK is not set if it was not set before."""
    variables = {"L_PRIORITIZE": "?", "L_BLOCK": "gpu,?"}
    assert honoured("L", variables, []) == {"L_PRIORITIZE": "?", "L_BLOCK": "gpu"}
    assert honoured("OTHER", variables, []) == variables


def test_the_variable_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """It also holds if discovery fails."""
    system = BackendSystem(None, "HONOURED")
    with blocking(system):
        assert "HONOURED_BLOCK" not in os.environ
    monkeypatch.setenv("HONOURED_BLOCK", "gpu,?")
    with pytest.raises(AssertionError, match=r"^gpu$"), blocking(system):
        raise AssertionError(os.environ["HONOURED_BLOCK"])
    assert os.environ["HONOURED_BLOCK"] == "gpu,?"
