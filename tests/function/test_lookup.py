"""What is looked up in the tables in force, and what is asked where they have no entry."""

from __future__ import annotations

import gc
import sys
import weakref
from contextvars import Context, ContextVar
from typing import Any

import pytest

from spatch_core._function.lookup import Lookup


class Fixture:
    """A table, and what is asked where it has no entry."""

    def __init__(self) -> None:
        # As `Adoption.fill` stores them: one type twice.
        table = {(int,): "int", int: "int", (int, str): "both", (): "none"}
        self.tables: list[Any] = [None, table]
        self.variable: ContextVar[Any] = ContextVar("tables", default=self.tables)
        self.indices: dict[Any, int] = {"f": 1, len: 1, (len, "at"): 1, (len, "outer"): 1, "far": 5}
        self.asked: list[Any] = []
        self.lookup = Lookup(self.variable, self.indices, self.fill)

    def fill(self, key: Any, types: Any) -> str:
        self.asked.append((key, types))
        return "filled"


@pytest.fixture
def given() -> Fixture:
    """A lookup."""
    return Fixture()


def test_an_entry_is_found(given: Fixture) -> None:
    """T2: by the key and all types, in the tables in force."""
    find = given.lookup.find
    assert [find("f", (int,)), find("f", (int, str)), find(len, ())] == ["int", "both", "none"]
    assert given.asked == []
    other = Context()
    other.run(given.variable.set, [None, {(int,): "other", int: "other"}])
    assert other.run(find, "f", (int,)) == "other"


@pytest.mark.parametrize(
    ("key", "types"),
    [
        ("g", (int,)),
        ("f", (str,)),
        ("f", [int]),
        ("f", 3),
        ("far", (int,)),
        (["unhashable"], (int,)),
    ],
    ids=["key", "types", "list", "number", "no table", "unhashable"],
)
def test_what_is_not_found_is_asked_for(given: Fixture, key: Any, types: Any) -> None:
    """T2: once, with what was given, and the exception of the table is gone."""
    assert given.lookup.find(key, types) == "filled"
    assert given.asked == [(key, types)]


def test_none_is_an_entry(given: Fixture) -> None:
    """T2: no backend takes the call; nothing is decided again."""
    given.tables[1][float,] = given.tables[1][float] = None
    assert given.lookup.find("f", (float,)) is None
    assert given.asked == []


def test_errors_of_fill_are_the_callers(given: Fixture) -> None:
    """T2: without a context."""

    def fail(key: Any, types: Any) -> None:
        raise LookupError("no")

    find = type(given.lookup)(given.variable, given.indices, fail).find
    with pytest.raises(LookupError, match="no") as caught:
        find("g", ())
    assert caught.value.__context__ is None


def test_the_types_of_ufuncs(given: Fixture) -> None:
    """T6: of the inputs without indices, of ``out=`` and of ``where=``."""
    find = given.lookup.find_ufunc
    assert find(len, "__call__", (1, "x"), {}) == "both"
    assert find(len, "at", (1, [0], "x"), {}) == "both"
    assert find(len, "outer", (1, "x"), {}) == "both"
    assert find(len, "__call__", (1,), {"out": ("x",)}) == "both"
    assert find(len, "__call__", (1,), {"out": "x"}) == "both"
    assert find(len, "__call__", (1,), {"where": "x"}) == "both"
    assert find(len, "__call__", (1,), {"axis": 3}) == "int"
    assert find(len, "__call__", (), {}) == "none"
    assert given.asked == []
    assert find(len, "reduceat", (1, [0]), {}) == "filled"
    assert find(len, "__call__", (1, 2, 3), {"out": ("x", None), "where": 1.0}) == "filled"
    assert find(len, "__call__", (b"", 2), {}) == "filled"
    assert given.asked == [
        ((len, "reduceat"), (int,)),
        (len, (int, int, int, str, type(None), float)),
        (len, (bytes, int)),
    ]


def test_wrong_arguments_are_type_errors(given: Fixture) -> None:
    """T2: of both methods."""
    lookup: Any = given.lookup
    with pytest.raises(TypeError):
        lookup.find("f")
    with pytest.raises(TypeError):
        lookup.find("f", (int,), 3)
    with pytest.raises(TypeError):
        lookup.find_ufunc(len, "__call__", (1,))


def test_tables_that_change_meanwhile(given: Fixture) -> None:
    """T2: comparing keys may run code that empties the tables."""

    class Clearing(type):
        def __eq__(cls, other: object) -> bool:
            given.tables[:] = [None]
            gc.collect()
            return True

        def __hash__(cls) -> int:
            return hash(int)

    assert given.lookup.find("f", (Clearing("Int", (), {}),)) in ("int", "filled")


def test_interrupts_pass_through() -> None:
    """T2: what is no `Exception` is never taken for a missing entry."""

    class Interrupting(type):
        def __hash__(cls) -> int:
            raise KeyboardInterrupt

    made = Fixture()
    with pytest.raises(KeyboardInterrupt):
        made.lookup.find("f", (Interrupting("I", (), {}),))
    assert made.asked == []


def test_nothing_leaks(given: Fixture) -> None:
    """T2, E6: neither references to what is found, nor the lookup itself in a cycle."""
    found = given.tables[1][bytes,] = given.tables[1][bytes] = object()
    before = sys.getrefcount(found)
    for _ in range(1000):
        given.lookup.find("f", (bytes,))
        given.lookup.find_ufunc(len, "at", (b"", 3), {"out": (b"",), "where": True})
    assert sys.getrefcount(found) == before

    class Filling:
        def __call__(self, *_: Any) -> None: ...

    fill = Filling()
    fill.lookup = type(given.lookup)(given.variable, {}, fill)  # type: ignore[attr-defined]
    reference = weakref.ref(fill)
    del fill
    gc.collect()
    assert reference() is None
