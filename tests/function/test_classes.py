"""Classes of a library: methods, operators, properties, indexing, inheritance, decorators."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import pytest

from spatch_core import BackendSystem, NoImplementationError
from tests.function.conftest import Foreign

HERE = __name__
BINARY = ["add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "and"]
COMPARISONS = ["lt", "le", "eq", "ne", "gt", "ge"]
CALLS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, f"__{name}__") for name in (*BINARY, *COMPARISONS)},
    "divmod": divmod,
}


def implement(*names: str) -> dict[str, Any]:
    """Return implementations that say which function they implement."""

    def make(name: str) -> Callable[..., Any]:
        def implementation(*args: Any, **kwargs: Any) -> Any:
            return "backend", name, args[1:]

        return implementation

    return {f"{HERE}:{name}": {"function": make(name)} for name in names}


def goes_on(context: Any, *args: Any, **kwargs: Any) -> Any:
    return "backend", context.call_next(*args, **kwargs)


METHODS = [
    "Array.total",
    "Array.T.fget",
    "Array.value.fget",
    "Array.value.fset",
    "Array.value.fdel",
    "Array.__getitem__",
    "Array.__setitem__",
    "Array.__delitem__",
    "Array.__contains__",
    "Array.__neg__",
    "Array.__len__",
    "Array.__iter__",
    "Array.__class_getitem__",
    "Array.__enter__",
    "Array.of_class",
    "Array.static",
    "Array.read",
    "Array.__eq__",
    "Point.__add__",
    "Slotted.total",
]
OPERATORS = [f"Array.__{kind}{name}__" for kind in ("", "r", "i") for name in (*BINARY, "divmod")]
system = BackendSystem(
    None,
    "CLASSES",
    [f"~{HERE}:Array", "builtins:int"],
    [
        {
            "name": "b",
            "primary_types": ["~tests.function.conftest:Foreign"],
            "secondary_types": [f"~{HERE}:Array", "builtins:int"],
            "functions": {
                **implement(*METHODS, *OPERATORS),
                f"{HERE}:Derived.total": {"function": goes_on, "uses_context": True},
                f"{HERE}:Derived.describe": {"function": goes_on, "uses_context": True},
            },
        }
    ],
)
dispatchable = system.dispatchable


class Array:
    """A class of the library."""

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.items: list[Any] = []

    @dispatchable(["self", "other"])
    def total(self, other: Any = None, n: int = 1) -> Any:
        return "default", other, n

    @dispatchable("self")
    def describe(self) -> Any:
        return "Array", type(self).__name__

    @property
    @dispatchable("self", qualname="Array.T.fget")
    def T(self) -> Any:  # noqa: N802  # as of arrays
        return "default"

    @property
    @dispatchable("self", qualname="Array.value.fget")
    def value(self) -> Any:
        return "value"

    @value.setter
    @dispatchable(["self", "new"], qualname="Array.value.fset")
    def value(self, new: Any) -> None:
        self.items.append(("set", new))

    @value.deleter
    @dispatchable("self", qualname="Array.value.fdel")
    def value(self) -> None:
        self.items.append("deleted")

    @dispatchable(["self", "index"], inside="index")
    def __getitem__(self, index: Any) -> Any:
        return "default", index

    @dispatchable(["self", "index", "value"], inside="index")
    def __setitem__(self, index: Any, value: Any) -> None:
        self.items.append((index, value))

    @dispatchable(["self", "index"], inside="index")
    def __delitem__(self, index: Any) -> None:
        self.items.append(index)

    @dispatchable(["self", "item"])
    def __contains__(self, item: Any) -> bool:
        return False

    @dispatchable("self")
    def __neg__(self) -> Any:
        return "default"

    @dispatchable("self")
    def __len__(self) -> int:
        return 3

    @dispatchable("self")
    def __iter__(self) -> Any:
        yield self.number

    @dispatchable("item")
    def __class_getitem__(cls, item: Any) -> Any:
        return "default", cls

    @dispatchable("self")
    def __enter__(self) -> Any:
        return "default"

    def __exit__(self, *_: object) -> None: ...

    @classmethod
    @dispatchable("x")
    def of_class(cls, x: Any) -> Any:
        return "default", cls

    @staticmethod
    @dispatchable("x")
    def static(x: Any) -> Any:
        return "default", x

    @dispatchable("x")
    async def read(self, x: Any) -> Any:
        return "default", x

    thrice = functools.partialmethod(total, n=3)

    @dispatchable(["self", "other"])
    def __eq__(self, other: object) -> Any:
        return self.number == other.number if isinstance(other, Array) else NotImplemented

    __hash__ = object.__hash__


def operate(name: str) -> Callable[..., Any]:
    """Make an operator."""

    def method(self: Any, other: Any) -> Any:
        return ("default", name) if isinstance(other, (Array, int)) else NotImplemented

    method.__name__, method.__qualname__ = name, f"Array.{name}"
    made: Any = dispatchable(["self", "other"])(method)
    return made  # type: ignore[no-any-return]  # a function


for operator_name in OPERATORS:
    last = operator_name.rpartition(".")[2]
    setattr(Array, last, operate(last))


class Derived(Array):
    """Overrides some methods, and inherits the others."""

    @dispatchable(["self", "other"])
    def total(self, other: Any = None, n: int = 1) -> Any:
        return "Derived", super().total(other, n)

    @dispatchable("self")
    def describe(self) -> Any:
        return "Derived", super().describe()


class Both(Foreign, Array):
    """The library's type, and that of the backend."""

    def __init__(self) -> None:
        Array.__init__(self)


class Stranger:
    """A type that no backend knows."""


array, foreign = Array(), Foreign()
untyped: Any = array
Untyped: Any = Array


# ---------------------------------------------------------------------------------------
# Methods


def test_the_instance_is_an_argument_like_others() -> None:
    """K1: it counts where the library names it."""
    assert array.total(1) == ("default", 1, 1)
    assert array.total(foreign)[0] == array.total(other=foreign)[0] == "backend"
    assert array.total(foreign, n=2) == ("backend", "Array.total", (foreign,))
    assert f"{HERE}:Array.total" in system.functions


def test_an_inherited_method_is_that_of_the_class_that_defines_it() -> None:
    """K1: one identity, and one table, for all subclasses."""

    class Local(Array):
        """Defines nothing."""

    assert Local().total(foreign)[0] == "backend"
    assert Local().total(1) == ("default", 1, 1)
    assert Local.total is Array.total


def test_super_runs_the_method_of_the_base() -> None:
    """K1: which dispatches by its own identity, on the instance as it is."""
    derived = Derived()
    assert derived.total(1) == ("Derived", ("default", 1, 1))
    assert derived.describe() == ("Derived", ("Array", "Derived"))
    assert derived.total(foreign) == (
        "backend",
        ("Derived", ("backend", "Array.total", (foreign, 1))),
    )


def test_special_methods_are_called_by_python() -> None:
    """K1: by their syntax, as those that are not decorated."""
    both: Any = Both()
    with system.backend_opts(prioritize="b"):
        assert -untyped == "default"
        assert -both == ("backend", "Array.__neg__", ())
        assert len(untyped) == 3
        assert [*untyped] == [0]
        assert 3 not in untyped
        assert foreign in untyped
        assert Untyped[3] == ("default", Array)
        assert Untyped[foreign] == ("backend", "Array.__class_getitem__", (foreign,))
        with untyped as entered:
            assert entered == "default"
        with both as entered:
            assert entered == ("backend", "Array.__enter__", ())


# ---------------------------------------------------------------------------------------
# Operators


@pytest.mark.parametrize("name", [*BINARY, "divmod"])
def test_operators_dispatch_on_either_side(name: str) -> None:
    """K2: the reflected one on an object of another class on the left."""
    call = CALLS[name]
    assert call(array, array) == ("default", f"__{name}__")
    assert call(array, foreign) == ("backend", f"Array.__{name}__", (foreign,))
    assert call(foreign, array) == ("backend", f"Array.__r{name}__", (foreign,))


@pytest.mark.parametrize("name", BINARY)
def test_operators_in_place(name: str) -> None:
    """K2: they are operators of their own."""
    call = getattr(operator, f"__i{name}__")
    assert call(Array(), 1) == ("default", f"__i{name}__")
    assert call(Array(), foreign) == ("backend", f"Array.__i{name}__", (foreign,))


@pytest.mark.parametrize("policy", ["default", "warn", "raise", "convert"])
def test_operators_leave_unknown_types_to_python(policy: str) -> None:
    """K2: they return NotImplemented, and neither raise nor convert by policy."""
    stranger = Stranger()
    with system.backend_opts(fallback=policy):
        for name in (*BINARY, "divmod"):
            assert getattr(untyped, f"__{name}__")(stranger) is NotImplemented
            assert getattr(untyped, f"__r{name}__")(stranger) is NotImplemented
            assert getattr(untyped, f"__i{name}__")(stranger) is NotImplemented
            with pytest.raises(TypeError, match="unsupported operand") as caught:
                CALLS[name](array, stranger)
            assert not isinstance(caught.value, NoImplementationError)
        assert array != stranger


def test_python_asks_the_other_operand() -> None:
    """K2: which may know what to do."""

    class Other(Stranger):
        def __radd__(self, other: object) -> Any:
            return "other"

        def __add__(self, other: object) -> Any:
            return NotImplemented

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = object.__hash__

    for policy in ("default", "raise"):
        with system.backend_opts(fallback=policy):
            assert untyped + Other() == "other"
            assert array == Other()
            with pytest.raises(TypeError, match="unsupported operand"):
                Other() + untyped
            number = untyped
            number += Other()
            assert number == "other"


def test_an_operator_is_known_by_its_own_name_too() -> None:
    """K2: by which Python calls it, whatever its identity is."""
    strict = BackendSystem(None, "STRICT", [f"{HERE}:Array"], fallback="raise")

    class Vector:
        @strict.dispatchable("other", identifier=f"{HERE}:add")
        def __add__(self, other: Any) -> Any:
            return "default"

        @strict.dispatchable("other")
        def add(self, other: Any) -> Any: ...

    assert Vector() + array == "default"
    with pytest.raises(TypeError, match="unsupported operand"):
        Vector() + Stranger()
    with pytest.raises(NoImplementationError):
        Vector().add(Stranger())


# ---------------------------------------------------------------------------------------
# Properties


def test_properties_are_named_as_they_are_found() -> None:
    """K1: `fget`, `fset` and `fdel` of the property."""
    both: Any = Both()
    with system.backend_opts(prioritize="b"):
        assert (array.T, both.T) == ("default", ("backend", "Array.T.fget", ()))
        assert (array.value, both.value[1]) == ("value", "Array.value.fget")
        both.value = 1
        array.value = foreign
        del both.value
    assert both.items == array.items == []
    other = Array()
    other.value = 1
    del other.value
    assert other.items == [("set", 1), "deleted"]


# ---------------------------------------------------------------------------------------
# Indexing


@pytest.mark.parametrize(
    "index",
    [foreign, (1, foreign), (..., [1, foreign]), slice(foreign), (1, slice(None, foreign), None)],
    ids=["alone", "in a tuple", "in a list", "in a slice", "in a slice in a tuple"],
)
def test_types_inside_of_an_index_decide(index: Any) -> None:
    """V9: alone, and in lists, tuples and slices."""
    assert untyped[index] == ("backend", "Array.__getitem__", (index,))
    untyped[index] = 1
    del untyped[index]
    assert array.items == []


@pytest.mark.parametrize("index", [1, slice(1, 2), (..., None, 1), [1, 2]], ids=repr)
def test_usual_indices_are_the_librarys(index: Any) -> None:
    """V9: slices, `...` and None name no backend's types."""
    assert untyped[index] == ("default", index)


# ---------------------------------------------------------------------------------------
# Other decorators


def test_class_methods_and_static_methods() -> None:
    """K1, F1: the class is an argument like others."""
    assert Untyped.of_class(1) == Untyped().of_class(1) == ("default", Array)
    assert Derived.of_class(1) == ("default", Derived)  # type: ignore[arg-type, call-arg]
    assert Untyped.of_class(foreign) == ("backend", "Array.of_class", (foreign,))
    assert Untyped.static(1) == Untyped().static(1) == ("default", 1)
    assert Untyped.static(foreign) == ("backend", "Array.static", ())


# ---------------------------------------------------------------------------------------
# Misuse


@pytest.mark.parametrize("name", ["__hash__", "__init__", "__new__"])
def test_some_methods_cannot_be_dispatchable(name: str) -> None:
    """K1: whatever their identity; nothing is registered."""

    def method(self: Any) -> None: ...

    method.__name__, method.__qualname__ = name, f"Image.{name}"
    before = [*system.functions]
    options: Any
    for options in ({}, {"identifier": "lib:f"}, {"module": "lib", "qualname": "f"}):
        with pytest.raises(TypeError, match=rf"Image\.{name} cannot be dispatchable: "):
            system.dispatchable("self", **options)(method)
    assert [*system.functions] == before
