"""Libraries that add functions, and fill the tables of their own backends, as they go."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from spatch_core import BackendSystem
from tests.function.conftest import Foreign, describe

CONFTEST = "tests.function.conftest"
ENTRY = {"function": f"{CONFTEST}:record"}


def grow(**fields: Any) -> Any:
    """Return a library, the table of its backend, and a function that decorates."""
    table: dict[str, Any] = {}
    backend = {**describe(), "functions": table, **fields}
    system = BackendSystem(None, "MYLIB", [f"{CONFTEST}:Own"], [backend])

    def add(name: str) -> Any:
        return system.dispatchable("x", identifier=f"lib:{name}")(lambda x: "default")

    return system, table, add


def runs(function: Callable[..., Any]) -> str:
    result = function(Foreign())
    return result if isinstance(result, str) else str(result[0])


def fill_before(table: dict[str, Any], add: Callable[[str], Any], name: str) -> Any:
    table[f"lib:{name}"] = ENTRY
    return add(name)


def fill_after(table: dict[str, Any], add: Callable[[str], Any], name: str) -> Any:
    function = add(name)
    table[f"lib:{name}"] = ENTRY
    return function


FILLING = pytest.mark.parametrize("fill", [fill_before, fill_after])


@FILLING
def test_tables_are_read_when_backends_are_discovered_and_by_reload(fill: Any) -> None:
    """D1: what is added later has no effect until then."""
    system, table, add = grow()
    first = fill(table, add, "f")
    assert runs(first) == "first"
    second = fill(table, add, "g")
    assert runs(second) == "default"
    assert second.backends == ("default",)
    assert [*system.backends["first"].functions] == ["lib:f"]
    system.reload()
    assert [runs(second), runs(first)] == ["first"] * 2
    assert second.backends == ("default", "first")
    assert [*system.backends["first"].functions] == ["lib:f", "lib:g"]
    assert "Backends" in second.__doc__


def test_a_function_may_be_decorated_after_its_entry_was_read() -> None:
    """D1: as a submodule does that is imported late."""
    _, table, add = grow()
    table["lib:g"] = ENTRY
    assert runs(fill_before(table, add, "f")) == "first"
    late = add("g")
    assert runs(late) == "first"
    assert "Backends" in late.__doc__


# ---------------------------------------------------------------------------------------
# Callables


@pytest.mark.parametrize("uses_context", [False, True])
def test_a_description_in_code_may_give_callables(uses_context: bool) -> None:
    """D4: in place of identifiers, also those that cannot be imported."""
    seen: list[Any] = []

    def should_run(context: Any, x: Any) -> bool:
        seen.append(context.name)
        return True

    entry = {
        "function": lambda *args: ["first", *args],
        "should_run": should_run,
        "uses_context": uses_context,
    }
    other = {"function": lambda *args: ["other", *args]}
    backend = {**describe(), "functions": {"lib:f": entry, "lib:g": other}}
    system = BackendSystem(None, "MYLIB", backends=[backend])
    functions: list[Any] = [
        system.dispatchable("x", identifier=f"lib:{name}")(lambda x: "default") for name in "fg"
    ]
    x = Foreign()
    for _ in range(2):
        assert functions[0](x)[0] == "first"
        assert functions[1](x) == ["other", x]
        assert functions[0](3) == "default"
    assert seen == ["first", "first"]
    (shown, _) = system.backends["first"].functions.values()
    assert shown.function.startswith(f"{__name__}:test_a_description_in_code_may_give_callables.")


# ---------------------------------------------------------------------------------------
# Implementations that are replaced


@pytest.mark.parametrize("look_again", ["reload", "refresh"])
@pytest.mark.parametrize("should_run", [False, True])
def test_an_implementation_that_is_replaced_in_its_module(
    package: Any, look_again: str, should_run: bool
) -> None:
    """F9: `reload()` and `refresh()` notice it."""
    text = "def f(x): return 'old'\ndef should_run(context, x): return True\n"
    name = package("unit_replaced", {"__init__.py": text})
    entry = {"function": f"{name}:f"}
    if should_run:
        entry["should_run"] = f"{name}:should_run"
    backend = {**describe(), "functions": {"lib:f": entry}}
    system = BackendSystem(None, "MYLIB", backends=[backend])
    function: Any = system.dispatchable("x", identifier="lib:f")(lambda x: "default")
    system.refresh()
    assert function(Foreign()) == function(Foreign()) == "old"
    vars(import_module(name))["f"] = lambda x: "new"
    assert function(Foreign()) == "old"
    getattr(system, look_again)()
    assert function(Foreign()) == function(Foreign()) == "new"
    assert function.invoke(backend="first")(3) == "new"
    vars(import_module(name))["should_run"] = lambda context, x: False
    getattr(system, look_again)()
    assert function(Foreign()) == ("default" if should_run else "new")
