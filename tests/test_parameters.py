"""The places of dispatch arguments in signatures; tests/function/test_signature has the others."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import pytest

from spatch_core._parameters import find_parameters


def plain(x: Any, y: Any = 1, *rest: Any, key: Any = 2, **options: Any) -> None: ...
def positional_only(x: Any, y: Any, /, z: Any) -> None: ...
def keyword_only(*, x: Any, y: Any = None) -> None: ...
def many_locals(x: Any, *, y: Any = 1) -> Any:
    z = x
    return z, y


@functools.wraps(plain)
def wrapped(*args: Any, **kwargs: Any) -> None:
    plain(*args, **kwargs)


def signed(*args: Any, **kwargs: Any) -> None: ...


signed.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]


class Callable:
    def __call__(self, x: Any, y: Any) -> None: ...

    def method(self, x: Any, y: Any) -> None: ...

    @classmethod
    def of_class(cls, x: Any, y: Any) -> None: ...

    @staticmethod
    def static(x: Any, y: Any) -> None: ...


class Constructed:
    def __init__(self, x: Any, y: Any = None) -> None: ...


def places(function: Any, names: Any) -> list[tuple[str | None, int | None]]:
    return [(each.name, each.position) for each in find_parameters(function, names, "lib:f")]


@pytest.mark.parametrize(
    ("function", "names", "expected"),
    [
        (plain, "x", [("x", 0)]),
        (plain, ("y", "x"), [("y", 1), ("x", 0)]),
        (plain, ["key"], [("key", None)]),
        (plain, [], []),
        (plain, iter(["x", "key"]), [("x", 0), ("key", None)]),
        (positional_only, ("x", "y", "z"), [(None, 0), (None, 1), ("z", 2)]),
        (keyword_only, ("x", "y"), [("x", None), ("y", None)]),
        (many_locals, ("x", "y"), [("x", 0), ("y", None)]),
        (wrapped, ("x", "key"), [("x", 0), ("key", None)]),
        (signed, ("x", "key"), [("x", 0), ("key", None)]),
        (functools.partial(plain, 1), "y", [("y", 0)]),
        (functools.partial(plain, key=1), ("y", "key"), [("y", 1), ("key", None)]),
        (Callable(), "y", [("y", 1)]),
        (Callable().method, ("x", "y"), [("x", 0), ("y", 1)]),
        (Callable.method, ("x", "y"), [("x", 1), ("y", 2)]),
        (Callable.of_class, "y", [("y", 1)]),
        (Callable.static, "y", [("y", 1)]),
        (staticmethod(plain), "y", [("y", 1)]),
        (Constructed, ("x", "y"), [("x", 0), ("y", 1)]),
        (len, "obj", [(None, 0)]),
        (sorted, ("iterable", "key"), [(None, 0), ("key", None)]),
        (lambda x, y: None, "y", [("y", 1)]),
    ],
)
def test_names_are_found(function: Any, names: Any, expected: Any) -> None:
    """A name leads to the ways to pass its argument: by keyword, by position, or both."""
    assert places(function, names) == expected


def test_simple_and_inspected_signatures_agree() -> None:
    """Reading the code object gives the same result as `inspect.signature`."""
    for function in (plain, positional_only, keyword_only, many_locals):
        names = [
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        # A partial object without arguments has the same signature, and must be inspected.
        assert places(function, names) == places(functools.partial(function), names)


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ({"x": 0}, [("x", 0)]),
        ({"y": 1, "x": 0}, [("y", 1), ("x", 0)]),
        ({"x": None}, [("x", None)]),
        ({"far": 63}, [("far", 63)]),
        ({}, []),
    ],
)
def test_mapping_is_not_compared_with_the_signature(mapping: Any, expected: Any) -> None:
    """A mapping is for functions whose signature does not have the parameters."""
    assert places(print, mapping) == expected
    assert places(max, mapping) == expected


@pytest.mark.parametrize(
    "mapping",
    [{"x": -1}, {"x": 64}, {"x": "0"}, {"x": True}, {"x": 1.0}, {0: 0}, {None: 0}, {"x": 0, 1: 1}],
    ids=repr,
)
def test_wrong_mapping_is_refused(mapping: Any) -> None:
    """The error repeats the value and names the function."""
    with pytest.raises(TypeError, match="lib:f: dispatch arguments map names to positions"):
        places(plain, mapping)


@pytest.mark.parametrize("name", ["z", "rest", "options", "self", "", 3], ids=repr)
def test_unknown_name_is_refused(name: Any) -> None:
    """The error lists the parameters, and the remedy for ``*args`` and ``**kwargs``."""
    with pytest.raises(TypeError, match=r"lib:f has no parameter .*x, y, key.*callable"):
        places(plain, [name])


def test_function_without_parameters() -> None:
    """The error says that it has no parameters."""
    with pytest.raises(TypeError, match="it has none"):
        places(lambda: None, "x")


def oddly_signed() -> None: ...


oddly_signed.__signature__ = 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("function", [dict, oddly_signed])
def test_function_without_a_signature(function: Any) -> None:
    """The error shows the remedy: ``{name: position}``."""
    with pytest.raises(TypeError, match=r"cannot be determined.*\{name: position\}") as caught:
        places(function, "x")
    assert isinstance(caught.value.__cause__, (TypeError, ValueError))


@pytest.mark.parametrize("function", [dict, oddly_signed])
def test_nothing_to_dispatch_on_needs_no_signature(function: Any) -> None:
    """F5: `[]` works like `{}`."""
    assert places(function, []) == places(function, {}) == []


def test_local_names_are_no_parameters() -> None:
    """A local variable cannot be dispatched on."""
    with pytest.raises(TypeError, match="no parameter 'z'"):
        places(many_locals, "z")


def test_dispatch_arguments_must_be_names() -> None:
    """The message lists the valid forms."""
    given: Any = 3
    with pytest.raises(TypeError, match=r"lib:f: the dispatch arguments are a name, .* not 3"):
        find_parameters(lambda x: x, given, "lib:f")
