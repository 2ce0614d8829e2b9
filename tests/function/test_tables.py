"""The tables that wrappers read: nested by the types of the arguments, or keyed by all of them."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._dispatch_arguments import Missing
from spatch_core._function.tables import table_of


class Foreign:
    """A backend's type."""


def first(*args: Any) -> str:
    return "first"


@pytest.mark.parametrize(
    ("dispatch_args", "keys"),
    [
        ("x", [Foreign]),
        (("x", "y"), [Foreign, Missing]),
        ([], [Missing]),
        (None, [(Foreign,)]),
        (lambda x, y=None: [x, y], [(Foreign, type(None))]),
    ],
    ids=["one", "two", "none", "all", "finder"],
)
def test_an_entry_is_found_by_the_types_of_the_call(dispatch_args: Any, keys: list[Any]) -> None:
    """As the wrapper's source says, which reads it without a lock."""
    backend = {
        "name": "first",
        "primary_types": [f"{__name__}:Foreign"],
        "functions": {"lib:f": {"function": f"{__name__}:first"}},
    }
    system = BackendSystem(None, "TABLESLIB", backends=[backend])
    f: Any = system.dispatchable(dispatch_args, module="lib", qualname="f")(lambda x, y=None: "d")
    f(Foreign())
    entry = system._dispatcher.keeper.get()[1]
    for key in keys:
        (found,) = entry
        assert found is key if isinstance(key, type) else found == key
        entry = entry[key]
    assert entry is (f.__wrapped__ if dispatch_args == [] else first)


def test_tables_that_were_dropped_meanwhile_are_there_again() -> None:
    """Another thread may forget all of them between two steps."""
    tables: list[Any] = ["the scope"]
    table = table_of(tables, 3)
    assert table_of(tables, 3) is table == {}
    assert len(tables) == 4
