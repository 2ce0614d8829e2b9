"""Tables: what they remember of calls, within which bounds, and that they are never wrong."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._state import MAX_ENTRIES


class Own:
    """The library's type."""


class Foreign:
    """The backends' type."""


def first(*args: Any, **kwargs: Any) -> str:
    return "first"


def describe(name: str = "first", **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "primary_types": [f"~{__name__}:Foreign"],
        "functions": {"lib:f": {"function": f"{__name__}:first"}},
        **fields,
    }


def make(dispatch_args: Any = "x", *backends: Any) -> Any:
    """Make a library; returns its system and its function."""
    system = BackendSystem(None, "MYLIB", [f"{__name__}:Own"], backends or [describe()])

    def f(x: Any = None, y: Any = None, **options: Any) -> str:
        return "default"

    return system, system.dispatchable(dispatch_args, module="lib", qualname="f")(f)


def count_fills(function: Any) -> list[Any]:
    """Record how often the table had no answer."""
    dispatcher = function.explain.__self__.dispatcher
    fill = dispatcher.fill
    filled = []

    def counting(index: int, values: Any) -> Any:
        filled.append(values)
        return fill(index, values)

    dispatcher.fill = counting
    return filled


# ---------------------------------------------------------------------------------------
# What is remembered


@pytest.mark.parametrize(
    ("dispatch_args", "fills"),
    [("x", 3), (("x", "y"), 6), (None, 6), (lambda x=None, y=None: [x], 3)],
    ids=["one", "two", "all", "callable"],
)
def test_equal_types_are_resolved_once(dispatch_args: Any, fills: int) -> None:
    """One table per function and state, keyed by the types: filled once, then read."""
    system, f = make(dispatch_args)
    filled = count_fills(f)
    calls: list[Any] = [
        (Foreign(),),
        (Own(),),
        (None,),
        (Foreign(), None),
        (Own(), 1),
        (Foreign(), Own()),
    ]
    expected = [f(*args) for args in calls]
    assert len(filled) == fills
    assert [f(*args) for args in calls * 3] == expected * 3
    assert len(filled) == fills
    with system.backend_opts(disable="first"):
        f(Foreign())
        f(Foreign())
    assert len(filled) == fills + 1
    with system.backend_opts(disable=["first"]):
        f(Foreign())
    f(Foreign())
    assert len(filled) == fills + 1
    system.reload()
    f(Foreign())
    assert len(filled) == fills + 2


def test_keyword_and_position_find_the_same_entry() -> None:
    """How an argument is passed does not matter to the table."""
    _, f = make(("x", "y"))
    filled = count_fills(f)
    for args, kwargs in (
        ((Foreign(), 1), {}),
        ((Foreign(),), {"y": 1}),
        ((), {"y": 1, "x": Foreign()}),
    ):
        assert f(*args, **kwargs) == "first"
    assert len(filled) == 1


def test_functions_have_tables_of_their_own() -> None:
    """Functions of one library do not share answers."""
    system, f = make()
    other: Any = system.dispatchable("x", module="lib", qualname="other")(lambda x: "default")
    assert [f(Foreign()), other(Foreign()), f(Foreign()), other(Foreign())] == [
        "first",
        "default",
        "first",
        "default",
    ]


# ---------------------------------------------------------------------------------------
# Bounds


@pytest.mark.parametrize("dispatch_args", ["x", ("x", "y"), None], ids=repr)
def test_tables_are_bounded(dispatch_args: Any) -> None:
    """E6: 10,000 short-lived classes fill no memory, and answers stay right."""
    system, f = make(dispatch_args)
    classes = [type("Local", (Foreign,), {}) for _ in range(100)]
    others = [type("Local", (), {}) for _ in range(100)]
    largest = 0
    sizes = []
    for cls in classes:
        for other in others if dispatch_args != "x" else others[:20]:
            value = cls()
            assert f(value, other()) == "first"
            assert f(other(), 1) == "default"
        sizes.append(_size(system._dispatcher.keeper.get()[1]))
        largest = max(largest, sizes[-1])
    assert largest <= MAX_ENTRIES
    # It starts again, and is not emptied at every fill from then on.
    again = sizes.index(min(sizes[-10:])) + 1
    assert max(sizes[again:], default=largest) > 100


def _size(table: dict[Any, Any]) -> int:
    return sum(_size(each) if type(each) is dict else 1 for each in table.values())


def test_collected_classes_are_not_kept_alive() -> None:
    """E6: neither by tables nor by anything that they hold."""
    system, f = make(("x", "y"), describe(), describe("watching", primary_types=["@abc:ABC"]))
    kept: weakref.WeakSet[Any] = weakref.WeakSet()
    for _ in range(50):
        cls = type("Local", (Foreign,), {})
        kept.add(cls)
        with system.backend_opts(prioritize="first"):
            assert f(cls(), cls()) == "first"
        assert f(1, cls()) == "first"
    del cls
    gc.collect()
    gc.collect()
    assert list(kept) == []


# ---------------------------------------------------------------------------------------
# Metaclasses


class ByName(type):
    """Compares classes by name."""

    def __eq__(cls, other: object) -> bool:
        return getattr(other, "__name__", None) == cls.__name__

    def __hash__(cls) -> int:
        return hash(cls.__name__)


class Constant(type):
    """Every class hashes alike."""

    def __hash__(cls) -> int:
        return 1


class Equal(type):
    """Every class is equal to everything."""

    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return 1


class Unhashable(type):
    """Classes compare element by element, as expressions do."""

    def __eq__(cls, other: object) -> Any:
        return [True]

    __hash__ = None  # type: ignore[assignment]


class Raising(type):
    """Comparing raises."""

    def __eq__(cls, other: object) -> bool:
        raise ZeroDivisionError

    def __hash__(cls) -> int:
        raise ZeroDivisionError


class Hiding(type):
    """Attributes of its classes cannot be read."""

    def __getattribute__(cls, name: str) -> Any:
        raise ZeroDivisionError(name)


METACLASSES = [ByName, Constant, Equal, Unhashable, Raising, Hiding]


@pytest.mark.parametrize("metaclass", METACLASSES)
@pytest.mark.parametrize("dispatch_args", ["x", ("x", "y"), None], ids=repr)
def test_metaclass_that_breaks_comparing(metaclass: Any, dispatch_args: Any) -> None:
    """M9: such classes are dispatched on like others, and misroute no others."""
    _, f = make(dispatch_args)
    known = type.__call__(metaclass, "Known", (Foreign,), {})
    unknown = type.__call__(metaclass, "Known", (), {})
    values: list[Any] = [type.__call__(cls) for cls in (known, unknown)]
    for _ in range(3):
        assert [f(value, 1) for value in values] == ["first", "default"]
        assert [f(Foreign(), 1), f(Own(), 1), f(3, 1)] == ["first", "default", "default"]
        assert f(values[1], Foreign()) == ("default" if dispatch_args == "x" else "first")
        assert f(values[1], values[0]) == ("default" if dispatch_args == "x" else "first")


@pytest.mark.parametrize("metaclass", METACLASSES)
def test_metaclass_that_breaks_comparing_in_explanations(metaclass: Any) -> None:
    """M9: the same for `explain`, its text, and the trace."""
    system, f = make()
    value = type.__call__(type.__call__(metaclass, "Known", (Foreign,), {}))
    explanation = f.explain(value)
    assert explanation.selected == "first"
    assert "Known" in str(explanation)
    with system.backend_opts(trace=True) as trace:
        f(value)
    assert [str(event) for event in trace] == ["lib:f -> first called"]


def test_objects_that_lie_about_their_class() -> None:
    """The type counts, not `__class__`: a proxy is what it is."""

    class Proxy:
        @property
        def __class__(self) -> Any:
            return Foreign

        @__class__.setter
        def __class__(self, value: Any) -> None: ...

    _, f = make()
    assert isinstance(Proxy(), Foreign)
    assert f(Proxy()) == "default"


# ---------------------------------------------------------------------------------------
# Tables that are forgotten in the middle


class Forgetting(type):
    """Asking such a class's metaclass for its hash changes the library."""

    action: Any = None

    def __hash__(cls) -> int:
        if Forgetting.action is not None:
            Forgetting.action()
        return type.__hash__(cls)


def test_tables_that_are_forgotten_while_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table look-up may run code that reloads; the call still gets its answer."""
    system, f = make(("x", "y"))
    cls = Forgetting("Known", (Foreign,), {})
    monkeypatch.setattr(Forgetting, "action", system.reload)
    assert [f(cls(), 1), f(1, cls()), f(Foreign(), 1), f(cls(), cls())] == ["first"] * 4


def test_tables_that_are_forgotten_while_should_run_is_asked() -> None:
    """`should_run` may reload and enable globally."""
    entry = {"function": f"{__name__}:first", "should_run": f"{__name__}:forget"}
    system, f = make("x", describe(functions={"lib:f": entry}))
    FORGET.append(system)
    try:
        assert [f(Foreign()) for _ in range(3)] == ["first"] * 3
    finally:
        FORGET.clear()


FORGET: list[Any] = []


def forget(context: Any, x: Any) -> bool:
    FORGET[0].reload()
    FORGET[0]._dispatcher.keeper.forget_tables()
    return True
