"""Tables and chains: what a scope keeps, and for how long."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._dispatch_arguments import Missing
from spatch_core._state.scope import MAX_ENTRIES, MAX_INNER, Scope, table_of
from spatch_core._state.state import DispatchState


class Foreign:
    """A type that is found by its name."""


class Unhashable(type):
    """A metaclass of classes that cannot be keys."""

    __hash__ = None  # type: ignore[assignment]


def make() -> Scope:
    scope = Scope(DispatchState())
    scope.tables.append({})
    return scope


def test_the_list_is_plain_and_leads_to_the_scope() -> None:
    """C and generated code read it: item 0 is the scope, item i the table of function i."""
    scope = make()
    assert type(scope.tables) is list
    assert scope.tables[0] is scope
    assert "without options" in repr(scope)


@pytest.mark.parametrize("types", [(), (int,), (int, Foreign), (Unhashable("Odd", (), {}),)])
def test_a_chain_is_kept_for_its_types(types: tuple[type, ...]) -> None:
    """By identity and in order, so that no metaclass is asked."""
    scope = make()
    chain = object()
    assert scope.chains(1).get(types) is None
    scope.chains(1).keep(types, chain)
    assert scope.chains(1).get(types) is chain
    assert scope.chains(1).get((*types, str)) is None
    assert scope.chains(2).get(types) is None
    assert scope.chains(1) is scope.chains(1)


def test_chains_are_forgotten_with_the_tables() -> None:
    """A chain of the old backends that is kept afterwards lands in a discarded object."""
    scope = make()
    before = scope.chains(1)
    before.keep((int,), "old")
    scope.tables[1][int] = "old"
    scope.forget()
    before.keep((str,), "old")
    assert scope.tables == [scope]
    assert scope.chains(1).get((int,)) is None
    assert scope.chains(1).get((str,)) is None


def test_a_full_table_is_emptied_with_its_chains() -> None:
    """The table of one function is cleared in place; others stay."""
    scope = make()
    table = scope.tables[1]
    scope.chains(1).keep((int,), "kept")
    scope.chains(2).keep((int,), "other")
    for number in range(MAX_ENTRIES):
        scope.make_room(1, table)
        table[number] = "target"
    assert scope.chains(1).get((int,)) == "kept"
    scope.make_room(1, table)
    assert table == {}
    assert scope.tables[1] is table
    assert scope.chains(1).get((int,)) is None
    assert scope.chains(2).get((int,)) == "other"


def test_the_number_of_chains_is_bounded() -> None:
    """Also where tables hold nothing, because a class cannot be a key."""
    chains = make().chains(1)
    for number in range(3 * MAX_ENTRIES):
        chains.keep((type(f"T{number}", (), {}),), number)
    assert len(chains._kept) <= MAX_ENTRIES


def test_the_number_of_inner_scopes_is_bounded() -> None:
    """Also where names were checked again and again, so that keys are new ones."""
    outer = make()
    for _ in range(3 * MAX_INNER):
        outer.keep_inner(DispatchState(("first",)), make())
    assert len(outer.inner) <= MAX_INNER


def test_unreachable_classes_are_forgotten() -> None:
    """Tables and chains of importable classes stay."""
    local = type("Local", (), {})
    scope = make()
    scope.tables += [{}, {}]
    scope.tables[1][int] = {Foreign: "target"}
    scope.tables[2][int] = {local: "target"}
    scope.tables[3][(int, local)] = "target"
    scope.chains(1).keep((int, Foreign), "chain")
    scope.chains(2).keep((int, local), "chain")
    scope.forget_unreachable()
    assert scope.tables[1:] == [{int: {Foreign: "target"}}, {}, {}]
    assert scope.chains(1).get((int, Foreign)) == "chain"
    assert scope.chains(2).get((int, local)) is None


def test_chains_keep_no_class_alive() -> None:
    """A class can be collected although a chain was kept for it."""
    system = BackendSystem(None, "MYLIB")
    system.dispatchable("x", module="lib", qualname="f")(lambda x: x)

    def use() -> Any:
        cls = type("Local", (), {})
        system._dispatcher.keeper.get()[0].chains(1).keep((cls,), SimpleNamespace(types=(cls,)))
        return weakref.ref(cls)

    kept = [use() for _ in range(5)]
    gc.collect()
    gc.collect()  # what the first one broke up
    assert [reference() for reference in kept] == [None] * 5


def test_chains_follow_the_backends() -> None:
    """`reload` and everything else that empties the tables drops the chains."""
    system = BackendSystem(None, "MYLIB")
    with system.backend_opts(prioritize="default"):
        scope = system._dispatcher.keeper.get()[0]
        scope.chains(1).keep((int,), "chain")
        system.reload()
        assert scope.chains(1).get((int,)) is None
        scope.chains(1).keep((int,), "chain")
        system._dispatcher.keeper.forget_tables()
        assert scope.chains(1).get((int,)) is None


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
