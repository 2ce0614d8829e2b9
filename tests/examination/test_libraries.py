"""Finding libraries, from entry points that are only in memory."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.examination.libraries import GROUP, find_libraries, find_library


def entry_point(name: str, value: str, distribution: str | None) -> Any:
    if distribution is None:
        return EntryPoint(name, value, GROUP)  # of no distribution
    dist = SimpleNamespace(metadata={"Name": distribution}, version="1.0")
    return SimpleNamespace(name=name, value=value, dist=dist)


def test_libraries_are_sorted_by_name() -> None:
    """The order of the entry points does not matter."""
    found = find_libraries([entry_point("b", "b:system", "one"), entry_point("a", "a:s", "two")])
    assert [each.name for each in found] == ["a", "b"]
    assert found[0].source.entry_point == "a = a:s"
    assert found[0].source.distribution == "two"


def test_extras_in_brackets_are_no_part_of_the_identifier() -> None:
    """Entry points may have extras."""
    (found,) = find_libraries([entry_point("a", "a.b:system [fast]", "one")])
    assert found.identifier == "a.b:system"


def test_of_one_name_the_first_by_distribution_owns_it() -> None:
    """The others have it as their owner."""
    points = [entry_point("a", f"{name}:system", name) for name in ("z", "x", "y")]
    found = find_libraries(points)
    assert [(each.identifier, each.owner) for each in found] == [
        ("x:system", None),
        ("y:system", "x"),
        ("z:system", "x"),
    ]


def test_an_entry_point_without_a_distribution_is_found() -> None:
    """Programs may add such entry points."""
    (found,) = find_libraries([entry_point("a", "a:system", None)])
    assert found.source.distribution is None


def test_a_system_is_found_by_the_module_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other imported modules do not matter."""

    class Stub:
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

    module = ModuleType("easel_with_system")
    vars(module)["system"] = system = BackendSystem(None, "EASEL")
    monkeypatch.setitem(sys.modules, "a_stub", Stub())
    monkeypatch.setitem(sys.modules, module.__name__, module)
    found = find_library(system)
    assert (found.name, found.identifier) == ("easel_with_system", "easel_with_system:system")
    with pytest.raises(LookupError, match="no imported module has this system"):
        find_library(BackendSystem(None, "EASEL"))


def test_a_system_of_the_main_module_alone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child process has another main module. A name in an importable module is used."""
    system = BackendSystem(None, "EASEL")
    main = ModuleType("__main__")
    vars(main)["system"] = system
    # A script is the first module that is imported.
    modules = {"__main__": main, **{k: v for k, v in sys.modules.items() if k != "__main__"}}
    monkeypatch.setattr(sys, "modules", modules)
    with pytest.raises(LookupError, match="__main__, which child processes cannot import"):
        find_library(system)
    module = ModuleType("easel_with_system")
    vars(module)["system"] = system
    modules["easel_with_system"] = module
    assert find_library(system).identifier == "easel_with_system:system"
