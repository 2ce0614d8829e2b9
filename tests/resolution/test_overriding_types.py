"""Overriding types: which classes have the method of a protocol, and their order."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core._resolution.overriding_types import GenericMethod, overrides, overriding_types

METHOD = "__lib_function__"


def make_class(name: str, *bases: type, **namespace: Any) -> type:
    return type(name, bases, {METHOD: classmethod(lambda cls, *call: NotImplemented), **namespace})


def test_a_class_overrides_by_the_method_on_its_mro() -> None:
    """K7: that of its metaclass, or of an instance, is none."""
    meta = type("Meta", (type,), {METHOD: lambda cls: None})
    base = make_class("Base")
    assert overrides(base, METHOD)
    assert overrides(type("Derived", (base,), {}), METHOD)
    assert overrides(make_class("Static", **{METHOD: staticmethod(len)}), METHOD)
    assert not overrides(meta("Plain", (), {}), METHOD)
    assert not overrides(type("Out", (base,), {METHOD: None}), METHOD)
    assert not any(overrides(each, METHOD) for each in (int, object, type))


def test_a_metaclass_is_not_asked() -> None:
    """K7, M9: whatever it says of attributes and subclasses."""

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            raise RuntimeError("asked")

        def __subclasscheck__(cls, other: type) -> bool:
            raise RuntimeError("asked")

        def __eq__(cls, other: object) -> bool:
            raise RuntimeError("asked")

        __hash__ = type.__hash__

    base = Meta("Base", (), {METHOD: classmethod(lambda cls, *call: None)})
    derived = Meta("Derived", (base,), {})
    assert [id(each) for each in overriding_types([base, derived], METHOD)] == [
        id(derived),
        id(base),
    ]


def test_the_class_that_names_the_mixin_does_not_override() -> None:
    """K10: its subclasses do."""
    mixin = type("Mixin", (), {METHOD: GenericMethod(lambda cls, *call: None)})
    base = type("Base", (mixin,), {})
    derived = type("Derived", (base,), {})
    again = type("Again", (base, mixin), {})
    own = make_class("Own", mixin)
    assert [overrides(each, METHOD) for each in (base, derived, again, own)] == [
        *(False, True, False, True)
    ]


def test_subclasses_first_else_from_left_to_right() -> None:
    """K8: a class goes just before the first class that it is derived from."""
    a, b, c = make_class("A"), make_class("B"), make_class("C")
    ab = make_class("AB", a, b)
    for types, expected in [
        ([a, b, c], [a, b, c]),
        ([c, b, a], [c, b, a]),
        ([a, b, ab], [ab, a, b]),
        ([c, a, ab], [c, ab, a]),
        ([int, b, str, ab], [ab, b]),
        ([int, str], []),
    ]:
        assert overriding_types(types, METHOD) == tuple(expected)


def test_a_plain_method_is_an_error() -> None:
    """K7: it would be called without an instance."""
    with pytest.raises(TypeError, match="write @classmethod above"):
        overrides(make_class("Wrong", **{METHOD: lambda self, *call: None}), METHOD)
