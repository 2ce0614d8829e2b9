"""M9: nothing about a class can break dispatching."""

from __future__ import annotations

import abc
import collections.abc
import enum
import fractions
import numbers
import os
import sys
import types
import typing
from typing import Any

import pytest

from spatch_core._classes import (
    is_class,
    is_general,
    is_hashable_by_identity,
    is_importable,
    module_of,
    qualname_of,
    type_identifier,
)


class Outer:
    class Inner:
        pass


class HostileMeta(type):
    """Attribute access, ``==`` and ``hash`` of its classes fail."""

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("==")

    def __hash__(cls) -> int:
        raise RuntimeError("hash")

    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError(name)


def make_hostile(*bases: type) -> type:
    """Not kept in this module: pytest asks everything in it for attributes."""
    cls: type = type.__call__(HostileMeta, "Hostile", bases, {})
    return cls


def test_a_class_has_an_identifier_whatever_its_metaclass_does() -> None:
    """M9: its metaclass compares classes by identity."""
    assert type_identifier(make_hostile()) == f"{__name__}:Hostile"


def test_a_nested_class_has_its_qualname_in_its_identifier() -> None:
    assert type_identifier(Outer.Inner) == f"{__name__}:Outer.Inner"


def test_a_class_without_a_module_has_an_identifier() -> None:
    """A class made by `type` where the globals have no name has no ``__module__`` at all."""
    namespace: dict[str, Any] = {}
    exec("cls = type('Anonymous', (), {})", namespace)  # noqa: S102  # only this makes one
    assert type_identifier(namespace["cls"]).endswith(":Anonymous")


def local_class() -> type:
    class Local:
        pass

    return Local


class Shadowed:
    pass


FirstShadowed = Shadowed


class Shadowed:  # type: ignore[no-redef]  # two of one name, on purpose
    pass


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (int, True),
        (type(None), True),
        (types.GeneratorType, True),
        (Outer, True),
        (Outer.Inner, True),
        (local_class(), False),
        (Shadowed, True),
        (FirstShadowed, False),
        (type("Gone", (), {}), False),
        (type("Inner", (), {"__qualname__": "Outer.Inner"}), False),
        (type("Lost", (), {"__module__": "no_such_module_here"}), False),
        (type("Odd", (), {"__module__": 1}), False),
        (type("Deep", (), {"__qualname__": "sys.path.Deep"}), False),
    ],
    ids=[
        "builtin",
        "never collected",
        "never collected, and found nowhere",
        "module level",
        "nested",
        "local",
        "redefined",
        "hidden by a redefinition",
        "not kept",
        "takes another's name",
        "module not there",
        "module is no string",
        "inside what is no class",
    ],
)
def test_an_importable_class_is_found_under_its_own_name(cls: type, expected: bool) -> None:
    assert is_importable(cls) is expected


def test_a_class_is_importable_whatever_its_metaclass_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = types.ModuleType("hostile_module")
    monkeypatch.setitem(sys.modules, "hostile_module", module)
    cls = type.__call__(HostileMeta, "Hostile", (), {"__module__": "hostile_module"})
    assert not is_importable(cls)
    module.__dict__["Hostile"] = cls
    assert is_importable(cls)


def test_whether_a_class_is_importable_runs_no_code_of_its_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = types.ModuleType("hooked_module")
    asked: list[str] = []
    module.__dict__["__getattr__"] = asked.append
    monkeypatch.setitem(sys.modules, "hooked_module", module)
    assert not is_importable(type("Absent", (), {"__module__": "hooked_module"}))
    assert asked == []


class EqualMeta(type):
    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return 1


class HashMeta(type):
    def __hash__(cls) -> int:
        return 1


class UnhashableMeta(type):
    __hash__ = None  # type: ignore[assignment]


class PlainMeta(type):
    pass


@pytest.mark.parametrize("metaclass", [type, PlainMeta, abc.ABCMeta])
def test_a_class_is_a_key_where_its_metaclass_compares_by_identity(metaclass: type) -> None:
    """M9: 6."""
    assert is_hashable_by_identity(metaclass("Made", (), {}))


@pytest.mark.parametrize("metaclass", [EqualMeta, HashMeta, UnhashableMeta, HostileMeta])
def test_a_class_is_no_key_where_its_metaclass_compares_differently(metaclass: type) -> None:
    """M9: looking it up would run the metaclass."""
    assert not is_hashable_by_identity(metaclass("Made", (), {}))


class Text(str):
    """A string whose comparisons all raise."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("==")

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __format__(self, specification: str) -> str:
        raise RuntimeError("format")


def test_the_names_of_a_class_are_strings_that_run_no_code() -> None:
    """M9: a subclass of str may run any."""
    cls = type("Odd", (), {"__module__": Text("m"), "__qualname__": Text("Outer.Odd")})
    assert type(module_of(cls)) is type(qualname_of(cls)) is str
    assert type_identifier(cls) == "m:Outer.Odd"
    assert not is_importable(cls)


def test_a_class_is_recognized_by_its_type_alone() -> None:
    """M9: `isinstance` would read ``__class__``."""

    class Lying:
        @property  # type: ignore[misc]  # it lies
        def __class__(self) -> type:
            raise RuntimeError("asked")

    assert not is_class(Lying())
    assert is_class(make_hostile())
    assert is_class(Lying)


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (float, True),
        (object, True),
        (collections.abc.Hashable, True),
        (numbers.Number, True),
        (os.PathLike, True),
        (typing.SupportsFloat, True),
        (fractions.Fraction, False),
        (collections.OrderedDict, False),
        (enum.Enum, False),
        (abc.ABCMeta("Made", (), {}), False),
        (type("float", (), {"__module__": "builtins"}), False),
        (Outer, False),
    ],
    ids=str,
)
def test_which_classes_say_little_of_their_subclasses(cls: type, expected: bool) -> None:
    """M7: Python's own classes, and the abstract ones of the standard library."""
    assert is_general(cls) is expected
