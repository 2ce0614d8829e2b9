"""Adding options to the process-wide default."""

from __future__ import annotations

import warnings

import pytest

from spatch_core import BackendSystem, GlobalOptionsWarning
from spatch_core._state.globally import enable
from spatch_core._state.keeper import StateKeeper
from spatch_core._state.state import DispatchState


def test_options_are_added_to_the_default() -> None:
    """S11: with one warning for each that changes what an earlier one has enabled."""
    keeper = StateKeeper("GLOBALLIB")
    enable(keeper, DispatchState(("first",)))
    with pytest.warns(GlobalOptionsWarning, match="called before"):
        enable(keeper, DispatchState(("second",)))
    assert keeper.current().prioritized == ("second", "first")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enable(keeper, DispatchState(("second",)))


def test_the_warning_is_shown_at_the_line_of_the_program() -> None:
    """S11: not at one of this package."""
    options = BackendSystem(None, "GLOBALLIB").backend_opts
    options(disable="default").enable_globally()
    with pytest.warns(GlobalOptionsWarning) as caught:
        options(prioritize="default").enable_globally()
    assert caught[0].filename == __file__
