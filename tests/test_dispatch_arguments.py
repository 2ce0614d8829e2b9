"""Dispatch arguments: the values by whose types a call is decided."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem


def finding(finder: Any) -> Any:
    """A dispatchable of this finder, and a backend for strings."""
    system = BackendSystem(
        None,
        "FINDERS",
        ["builtins:int"],
        backends=[{"name": "a", "primary_types": ["builtins:str"]}],
    )

    def join(x: Any, y: Any = None) -> str:
        return "default"

    return system.dispatchable(finder, module="lib", qualname="join")(join)


@pytest.mark.parametrize(
    ("finder", "text"),
    [
        (lambda x, y=None: None, "but 'NoneType' object is not iterable"),
        (lambda x, y=None: 3, "several objects in a tuple or list, but 'int' object is not"),
        (lambda x: (x,), "must take the arguments of every call, as the function does, and return"),
        (lambda x, z=None: (x,), "unexpected keyword argument 'y'"),
    ],
    ids=["none", "one", "too-few", "other-name"],
)
def test_a_finder_that_does_not_fit_is_named_with_its_function(finder: Any, text: str) -> None:
    """F4: the error names the wrong result, or the arguments that it does not accept."""
    join = finding(finder)
    for call in (join, join.explain, join.invoke(type=int)):
        with pytest.raises(TypeError) as caught:
            call(1, y=2)
        assert "lib:join: the callable that finds its dispatch arguments " in str(caught.value)
        assert text in str(caught.value)
        assert isinstance(caught.value.__cause__, TypeError)


def test_a_wrong_call_is_told_from_a_wrong_finder() -> None:
    """The error of the function itself is raised, also by `explain`."""
    join = finding(lambda x, y=None: (x, y))
    for call in (join, join.explain):
        with pytest.raises(TypeError, match=r"^join\(\) missing a required argument: 'x'$"):
            call()
        with pytest.raises(TypeError, match=r"^join\(\) got an unexpected keyword argument 'z'$"):
            call(1, z=2)


def test_an_error_in_a_finder_is_its_own() -> None:
    """Also a `TypeError`, and an error of a generator."""

    def broken(x: Any) -> Any:
        return x + ""

    def lazy(x: Any) -> Any:
        yield x + ""

    for finder in (broken, lazy):
        with pytest.raises(TypeError, match=r"^unsupported operand") as caught:
            finding(finder)(1)
        assert "finds its dispatch" not in str(caught.value)
