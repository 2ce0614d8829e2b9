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
