"""M3, M4, M5: the index finds the patterns that asking all of them would find."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatch_core._resolution.pattern_index import PatternIndex
from spatch_core._type_patterns import TypePattern
from tests.test_classes import make_hostile

MODULES = ["origin", "origin.core", "facade", "facade.api", "absent", "odd", "hooked", "builtins"]
NAMES = ["Array", "Sub", "Renamed", "Ns.Array", "Other", "int", "object"]


def make_class(name: str, module: str, *bases: type) -> type:
    return type(name, bases, {"__module__": module})


@pytest.fixture(scope="module")
def classes() -> Any:
    """Classes of modules that are imported, absent, odd, or have a hook."""
    array = make_class("Array", "origin.core")
    sub = make_class("Sub", "facade", array)
    found = [array, sub, make_class("Array", "absent"), make_class("Other", "hooked", sub), bool]
    modules: dict[str, Any] = {name: types.ModuleType(name) for name in MODULES[:4]}
    modules["origin"].__dict__.update(Array=array, Other=1)
    modules["facade"].__dict__.update(Renamed=array, Ns=types.SimpleNamespace(Array=sub))
    modules["facade.api"].__dict__.update(Sub=sub, Array=int)
    modules["hooked"] = types.ModuleType("hooked")
    behind = types.SimpleNamespace(Array=array, Other=found[3])
    modules["hooked"].__dict__["__getattr__"] = lambda name: getattr(behind, name)
    modules["odd"] = types.SimpleNamespace(Array=array)
    with pytest.MonkeyPatch.context() as patch:
        for name, module in modules.items():
            patch.setitem(sys.modules, name, module)
        yield [*found, make_hostile(), make_hostile(array)]


patterns = st.lists(
    st.builds(
        lambda prefix, module, name: TypePattern(f"{prefix}{module}:{name}"),
        st.sampled_from(["", "~", "@"]),
        st.sampled_from(MODULES),
        st.sampled_from(NAMES),
    ),
    unique=True,
    max_size=30,
)


@given(patterns, st.integers(0, 6), st.booleans())
def test_the_index_agrees_with_asking_every_pattern(
    classes: list[type], patterns: list[TypePattern], number: int, known: bool
) -> None:
    """M3, M4, M5: the same patterns, distances and aliases."""
    cls = classes[number]
    concrete = [each for each in patterns if each.prefix != "@"]
    index = PatternIndex(patterns)
    every = {each: each.distance(cls) for each in concrete}
    assert index.distances(cls) == {each: at for each, at in every.items() if at is not None}
    awaited = {each for each in concrete if each.may_alias(cls, known)}
    assert set(index.awaited_aliases(cls, known)) == awaited


def test_patterns_of_absent_modules_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """P11: a new class costs the same, however many packages are not imported."""
    asked = []
    distance = TypePattern.distance

    def count(pattern: TypePattern, cls: type) -> int | None:
        asked.append(pattern)
        return distance(pattern, cls)

    monkeypatch.setattr(TypePattern, "distance", count)
    index = PatternIndex(TypePattern(f"package{number}:Array") for number in range(1000))
    special = make_class("Array", "package7")
    assert list(map(str, index.distances(special))) == ["package7:Array"]
    assert index.distances(int) == {}
    assert len(asked) == 1
