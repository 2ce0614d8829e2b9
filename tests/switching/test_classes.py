"""`describe_class`: classes whose methods are a backend; rule W4."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.switching import Switch, describe_class
from spatch_core.testing import isolated


class Base:
    """The common base class of backends."""

    name = "base"

    def kron(self, x: Any) -> Any:
        return ["shared kron", self.dot(x)]

    def dot(self, x: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def check(x: Any) -> str:
        return "shared check"


class Middle(Base):
    @classmethod
    def make(cls, x: Any) -> str:
        return f"made by {cls.__name__}"


class Jax(Middle):
    __slots__ = ("made",)

    name = "jax"
    float64 = float
    pi = math.pi
    nothing = None
    sqrt = math.sqrt
    _private = 3

    def __init__(self) -> None:
        self.made = "instance"

    def dot(self, x: Any) -> Any:
        return f"{self.made} dot"

    @staticmethod
    def zeros(x: Any) -> str:
        return "jax zeros"

    @property
    def shape(self) -> str:
        return "a property"

    @cached_property
    def device(self) -> str:
        return "another one"


def test_public_methods_are_implementations() -> None:
    """W4: static ones, those of the class, inherited ones, and those of one instance."""
    found = describe_class(Jax, "lib")
    functions = {key: each["function"] for key, each in found["functions"].items()}
    assert sorted(functions) == [
        f"lib:{n}" for n in ("check", "dot", "kron", "make", "sqrt", "zeros")
    ]
    assert functions["lib:zeros"]([1]) == "jax zeros"
    assert functions["lib:dot"]([1]) == "instance dot"
    assert functions["lib:kron"]([1]) == ["shared kron", "instance dot"]
    assert functions["lib:make"]([1]) == "made by Jax"
    assert functions["lib:check"]([1]) == "shared check"
    assert functions["lib:sqrt"](4) == 2
    assert functions["lib:dot"].__self__ is functions["lib:kron"].__self__


def test_values_are_attributes() -> None:
    """W4: classes too; they are imported when they are read. Properties and slots are left out."""
    found = describe_class(Jax, "lib")["attributes"]
    assert found["lib:float64"] == f"{__name__}:Jax.float64"
    assert sorted(found) == [f"lib:{n}" for n in ("float64", "name", "nothing", "pi")]


def test_shared_methods_are_left_out() -> None:
    """W4: the library's own function serves for them."""
    found = describe_class(Jax, "lib", shared=Base)
    assert sorted(found["functions"]) == ["lib:dot", "lib:make", "lib:sqrt", "lib:zeros"]
    assert "lib:name" in found["attributes"]  # Jax says something else
    assert [*describe_class(Jax, "lib", shared=Middle)["functions"]] == [
        *("lib:dot", "lib:sqrt", "lib:zeros")
    ]


def test_a_backend_of_a_class() -> None:
    """W4: as part of a description; the shared functions are compositional."""
    described = describe_class(Jax, "lib", shared=Base)
    fields = {"name": "jax", "primary_types": ["jax:Array"], **described}
    system = BackendSystem(None, "CLASSLIB", backends=[fields])
    switch = Switch(system)

    @system.dispatchable("x", module="lib", qualname="dot")
    def dot(x: Any) -> Any:
        return "own dot"

    @system.dispatchable("x", module="lib", qualname="kron", compositional=True)
    def kron(x: Any) -> Any:
        return ["own kron", dot(x)]

    with isolated(system):
        assert system.problems == ()
        assert kron([1]) == ["own kron", "own dot"]
        with switch.backend_context("jax"):
            assert kron([1]) == ["own kron", "instance dot"]


def test_mistakes() -> None:
    """W4: at once."""

    class Local:
        value = 3

    with pytest.raises(TypeError, match="Base is no subclass of Jax"):
        describe_class(Base, "lib", shared=Jax)
    with pytest.raises(TypeError, match="cannot be imported as"):
        describe_class(Local, "lib")
