"""What one object of options keeps about its blocks; `test_options` has their behaviour."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core import BackendSystem

if TYPE_CHECKING:
    pass


class Foreign:
    """The backend's type."""


@pytest.fixture
def system() -> BackendSystem:
    return BackendSystem(
        None, "MYLIB", backends=[{"name": "first", "primary_types": [f"~{__name__}:Foreign"]}]
    )


@pytest.mark.parametrize("fields", [{}, {"type": Foreign}, {"trace": True}], ids=str)
def test_entering_again_finds_the_same_tables(system: BackendSystem, fields: Any) -> None:
    """What was decided in the block before need not be decided again."""
    options = system.backend_opts("first", **fields)
    found = []
    for _ in range(2):
        with options:
            found.append(system._dispatcher.keeper.get())
    with system.backend_opts(prioritize="default"), options:
        found.append(system._dispatcher.keeper.get())
    assert found[0] is found[1]
    assert found[0] is not found[2]
    assert options._entered == []


def test_inner_blocks_of_a_trace_keep_their_tables(system: BackendSystem) -> None:
    """Also blocks of new objects with the same options."""
    found = []
    with system.backend_opts(trace=True):
        for _ in range(2):
            with system.backend_opts("first"):
                found.append(system._dispatcher.keeper.get())
    assert found[0] is found[1]


def test_options_keep_no_class_of_other_options_alive(system: BackendSystem) -> None:
    """The class of the block around them, where they were entered once."""
    kept = [system.backend_opts(trace=True), system.backend_opts(type=Foreign)]

    def use() -> Any:
        cls = type("Local", (Foreign,), {})
        with system.backend_opts(type=cls):
            for options in kept:
                with options:
                    pass
        return weakref.ref(cls)

    reference = use()
    gc.collect()
    gc.collect()  # what the first one broke up
    assert reference() is None


def test_a_block_that_fails_to_be_entered_leaves_nothing(system: BackendSystem) -> None:
    """Leaving it is the same mistake as leaving any block that was not entered."""
    options = system.backend_opts(trace=True)
    with pytest.raises(RuntimeError, match="not entered in this context"):
        options.__exit__()
