"""M3, M4, M6: the classes that a type pattern names."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from typing import Any

import pytest

from spatch_core.exceptions import IdentifierError
from spatch_core.types import TypePattern
from tests.conftest import WritePackage


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


class Outer:
    class Inner:
        pass


def test_a_dot_for_the_colon_is_shown_the_colon() -> None:
    """D10: where a description has no line for a remedy, on the command line and in options."""
    with pytest.raises(IdentifierError, match=r"such as '~numpy:ndarray'$"):
        TypePattern("~numpy.ndarray")


def test_type_patterns_are_equal_by_their_text() -> None:
    assert TypePattern("~m:Q") == TypePattern("~m:Q")
    assert hash(TypePattern("~m:Q")) == hash(TypePattern("~m:Q"))
    assert len({TypePattern(text) for text in ("m:Q", "~m:Q", "@m:Q", "m:R", "m:Q")}) == 4
    assert TypePattern("m:Q") != "m:Q"


@pytest.mark.parametrize("text", ["m:Q", "~m:Q.R", "@m:Q"])
def test_type_patterns_can_be_copied_and_pickled(text: str) -> None:
    pattern = TypePattern(text)
    for other in (copy.deepcopy(pattern), pickle.loads(pickle.dumps(pattern))):
        assert other == pattern
        assert (other.prefix, other.identifier) == (pattern.prefix, pattern.identifier)


class Base:
    pass


class Derived(Base):
    pass


@pytest.mark.parametrize(
    ("text", "cls", "expected"),
    [
        ("builtins:int", int, True),
        ("builtins:int", bool, False),
        ("~builtins:int", bool, True),
        ("~builtins:int", int, True),
        ("~builtins:bool", int, False),
        (f"{__name__}:Outer.Inner", Outer.Inner, True),
        (f"{__name__}:Inner", Outer.Inner, False),
        (f"{__name__}:Outer", Outer.Inner, False),
        (f"{__name__}:Base", Derived, False),
        (f"~{__name__}:Base", Derived, True),
        ("~builtins:object", Derived, True),
    ],
)
def test_a_pattern_names_a_class_by_module_and_qualname(
    text: str, cls: type, expected: bool
) -> None:
    """M3, M4: 2 and 4.3, where the module is imported."""
    assert TypePattern(text).names(cls) is expected


def test_a_pattern_names_a_class_whatever_its_metaclass_does() -> None:
    """M9: 6."""
    hostile = make_hostile()
    derived = type.__call__(HostileMeta, "Derived", (hostile,), {})
    home = make_hostile.__module__
    exact, subclass = TypePattern(f"{home}:Hostile"), TypePattern(f"~{home}:Hostile")
    assert exact.names(hostile)
    assert subclass.names(hostile)
    assert not exact.names(derived)
    assert subclass.names(derived)
    assert not TypePattern("builtins:int").names(hostile)
    assert TypePattern(f"{home}.public:Other").may_alias(hostile, known=True)


@pytest.mark.parametrize("prefix", ["", "~"])
def test_a_pattern_names_a_class_of_a_module_that_is_not_imported(prefix: str) -> None:
    """M3, M4: 2 and 4.3: only names decide if the module is not imported."""
    base = type("Array", (), {"__module__": "never.imported"})
    derived = type("Special", (base,), {"__module__": "somewhere.else_"})
    pattern = TypePattern(f"{prefix}never.imported:Array")
    assert pattern.names(base)
    assert pattern.names(derived) is (prefix == "~")
    assert "never" not in sys.modules


def test_a_pattern_names_the_object_behind_a_public_alias(package: WritePackage) -> None:
    """M3, M4: 2 and 4.3: the class *is* the object that the pattern names."""
    package("aliased", {"core.py": "class Array: ...\n", "public.py": "from .core import Array\n"})
    array = importlib.import_module("aliased.core").Array
    derived = type("Derived", (array,), {})
    exact, subclass = TypePattern("aliased.public:Array"), TypePattern("~aliased.public:Array")
    assert not exact.names(array)
    assert not subclass.names(derived)
    assert "aliased.public" not in sys.modules
    importlib.import_module("aliased.public")
    assert exact.names(array)
    assert not exact.names(derived)
    assert subclass.names(derived)


def test_an_alias_that_names_something_else_is_no_match(package: WritePackage) -> None:
    package("replaced", {"__init__.py": "Array = 1\n"})
    importlib.import_module("replaced")
    assert not TypePattern("replaced:Array").names(int)


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("defining.public:Array", False, True),
        ("defining.public:Array", True, True),
        ("defining.public:Renamed", True, True),
        ("~defining.public:Renamed", True, True),
        ("elsewhere:Array", False, True),
        ("~elsewhere:Array", False, True),
        ("elsewhere:Other", False, False),
        ("elsewhere:ns.Array", False, True),
        ("@defining.public:Array", False, False),
        ("builtins:int", False, False),
    ],
)
def test_a_pattern_may_be_an_alias_while_its_module_is_not_imported(
    text: str, known: bool, expected: bool
) -> None:
    cls = type("Array", (), {"__module__": "defining.core"})
    assert TypePattern(text).may_alias(cls, known) is expected


@pytest.mark.parametrize(("prefix", "expected"), [("", False), ("~", True)])
def test_a_subclass_pattern_may_be_an_alias_of_any_base(prefix: str, expected: bool) -> None:
    base = type("Array", (), {"__module__": "defining.core"})
    derived = type("Masked", (base,), {"__module__": "other"})
    assert TypePattern(f"{prefix}defining.public:Array").may_alias(derived, True) is expected


@pytest.mark.parametrize(
    ("text", "cls", "expected"),
    [
        ("builtins:int", int, 0),
        ("builtins:int", bool, None),
        ("~builtins:int", bool, 1),
        ("~builtins:object", bool, 2),
        (f"~{__name__}:Base", Derived, 1),
        (f"~{__name__}:Derived", Base, None),
    ],
)
def test_a_pattern_has_a_distance_on_the_mro(text: str, cls: type, expected: int | None) -> None:
    """P4: by it the nearer of two patterns is found."""
    assert TypePattern(text).distance(cls) == expected
