"""The variable that traces a program which one cannot edit: its values, and its misspellings."""

from __future__ import annotations

import warnings

import pytest

from spatch_core import BackendSystem, EnvironmentVariableWarning


@pytest.mark.parametrize("value", ["1", "0", "", " 1 "])
def test_values_of_a_flag_are_accepted(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """S11: `0` and nothing are the same."""
    monkeypatch.setenv("TRACEDLIB_TRACE", value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert BackendSystem(None, "TRACEDLIB").problems == ()


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("TRACE", "yes", "'yes' is neither 1 nor 0. Write it as TRACEDLIB_TRACE=1"),
        ("TRACE", "2", "'2' is neither 1 nor 0"),
        ("TRACES", "1", "Did you mean TRACEDLIB_TRACE?"),
        ("trace", "1", "Did you mean TRACEDLIB_TRACE?"),
    ],
)
def test_others_are_reported_by_name(
    variable: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S12: and ignored; so are misspelled names."""
    monkeypatch.setenv(f"TRACEDLIB_{variable}", value)
    system = BackendSystem(None, "TRACEDLIB")
    with pytest.warns(EnvironmentVariableWarning) as caught:
        (problem,) = system.problems
    assert problem.key == f"TRACEDLIB_{variable}"
    assert told in str(problem)
    assert len(caught) == 1
