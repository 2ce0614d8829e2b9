"""M2: the classes that a type pattern names."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.exceptions import IdentifierError
from spatch_core.types import TypePattern
from tests.conftest import WritePackage


class HostileMeta(type):
    """Its classes cannot be compared or hashed."""

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("==")

    def __hash__(cls) -> int:
        raise RuntimeError("hash")


class Outer:
    class Inner:
        pass


class Base:
    pass


class Derived(Base):
    pass


class Further(Derived):
    pass


def library(*patterns: str) -> Any:
    """Return a function that gives the pattern of the backend that takes its argument."""
    backends = [
        {
            "name": f"b{number}",
            "primary_types": [pattern],
            "functions": {"lib:f": {"function": lambda x, pattern=pattern: pattern}},
        }
        for number, pattern in enumerate(patterns)
    ]
    system = BackendSystem(None, "TYPE_PATTERNS", ["nowhere:Nothing"], backends)
    return system.dispatchable("x", identifier="lib:f")(lambda x: None)


def names(pattern: str, cls: Any) -> bool:
    return bool(library(pattern)(object.__new__(cls)) == pattern)


def test_a_dot_for_the_colon_is_shown_the_colon() -> None:
    """D4: where a description has no line for a remedy, on the command line and in options."""
    with pytest.raises(IdentifierError, match=r"such as '~numpy:ndarray'$"):
        TypePattern("~numpy.ndarray")


def test_type_patterns_are_values() -> None:
    """Equal, hashed, copied and pickled by their text."""
    pattern = TypePattern("~m:Q")
    for other in (TypePattern("~m:Q"), copy.deepcopy(pattern), pickle.loads(pickle.dumps(pattern))):
        assert other == pattern
        assert (hash(other), str(other)) == (hash(pattern), "~m:Q")
    assert len({TypePattern(text) for text in ("m:Q", "~m:Q", "@m:Q", "m:R", "m:Q")}) == 4


@pytest.mark.parametrize(
    ("text", "cls", "expected"),
    [
        ("fractions:Fraction", importlib.import_module("fractions").Fraction, True),
        (f"{__name__}:Outer.Inner", Outer.Inner, True),
        (f"{__name__}:Inner", Outer.Inner, False),
        (f"{__name__}:Outer", Outer.Inner, False),
        (f"{__name__}:Base", Base, True),
        (f"{__name__}:Base", Derived, False),
        (f"~{__name__}:Base", Derived, True),
        (f"~{__name__}:Derived", Base, False),
        ("~builtins:object", Derived, True),
    ],
)
def test_a_pattern_names_a_class_by_module_and_qualname(
    text: str, cls: type, expected: bool
) -> None:
    """M2: where the module is imported."""
    assert names(text, cls) is expected


def test_a_class_that_cannot_be_compared_is_named() -> None:
    """M1: neither ``==`` nor ``hash`` is needed."""
    hostile = HostileMeta("Hostile", (), {})
    derived = HostileMeta("Derived", (hostile,), {})
    assert names(f"{__name__}:Hostile", hostile)
    assert names(f"~{__name__}:Hostile", derived)
    assert not names(f"{__name__}:Hostile", derived)
    assert not names(f"{__name__}:Base", hostile)


@pytest.mark.parametrize("prefix", ["", "~"])
def test_a_pattern_names_a_class_of_a_module_that_is_not_imported(prefix: str) -> None:
    """M2: then only names decide."""
    base = type("Array", (), {"__module__": "never.imported"})
    derived = type("Special", (base,), {"__module__": "somewhere.else_"})
    assert names(f"{prefix}never.imported:Array", base)
    assert names(f"{prefix}never.imported:Array", derived) is (prefix == "~")
    assert "never" not in sys.modules


def test_a_pattern_names_the_object_behind_a_public_alias(package: WritePackage) -> None:
    """M2: the class *is* the object that the pattern names, as soon as it is imported."""
    package("aliased", {"core.py": "class Array: ...\n", "public.py": "from .core import Array\n"})
    array = importlib.import_module("aliased.core").Array
    derived = type("Derived", (array,), {})
    exact, subclass = library("aliased.public:Array"), library("~aliased.public:Array")
    for _ in range(2):
        assert (exact(array()), subclass(derived())) == (None, None)
    assert "aliased.public" not in sys.modules
    importlib.import_module("aliased.public")
    assert exact(array()) == "aliased.public:Array"
    assert exact(derived()) is None
    assert subclass(derived()) == "~aliased.public:Array"


def test_an_alias_that_names_something_else_is_no_match(package: WritePackage) -> None:
    """M2: whatever object it is."""
    package("replaced", {"__init__.py": "Base = 1\n"})
    importlib.import_module("replaced")
    assert not names("replaced:Base", Base)


def test_the_nearer_pattern_goes_first() -> None:
    """P4: by the distance on the MRO of the class of the call."""
    texts = ["~builtins:object", f"~{__name__}:Base", f"~{__name__}:Derived"]
    for given in (texts, texts[::-1]):
        f = library(*given)
        assert [f(cls()) for cls in (Outer, Base, Derived, Further)] == [*texts, texts[-1]]
