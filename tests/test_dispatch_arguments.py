"""Dispatch arguments: the values by whose types a call is decided."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._dispatch_arguments import Function


def gathered(x: Any, y: Any = None, /, z: Any = None, *, key: Any = None) -> None: ...


@pytest.mark.parametrize(
    ("dispatch_args", "args", "kwargs", "found"),
    [
        ("x", (1, 2), {}, (1,)),
        (("z", "x"), (1,), {"z": 3}, (3, 1)),
        (("x", "key"), (1,), {"key": None}, (1,)),
        (("key", "y"), (1, None), {"key": 4}, (4,)),
        ({"x": 0, "far": 7}, (1,), {"far": 5}, (1, 5)),
        ([], (1, 2), {"z": 3}, ()),
        (None, (1, None), {"z": 3}, (1, 3)),
        (lambda *args, **kwargs: args[:1], (1, 2), {"z": 3}, (1,)),
    ],
)
def test_arguments_that_were_given_and_are_not_none(
    dispatch_args: Any, args: Any, kwargs: Any, found: Any
) -> None:
    """In the order in which the library names them, not in the order of the call."""
    assert Function("lib:gathered", gathered, dispatch_args).extract(args, kwargs) == found


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
        (lambda x, y=None: None, "returned None, not several arguments"),
        (lambda x, y=None: 3, "returned an object of type 'int', not several"),
        (lambda x: (x,), "must take the arguments of every call, as the function does, but "),
        (lambda x, z=None: (x,), "unexpected keyword argument 'y'"),
    ],
    ids=["none", "one", "too-few", "other-name"],
)
def test_a_finder_that_does_not_fit_is_named_with_its_function(finder: Any, text: str) -> None:
    """F5: the error names the wrong result, or the arguments that it does not accept."""
    join = finding(finder)
    for call in (join, join.explain, join.invoke(type=int)):
        with pytest.raises(TypeError) as caught:
            call(1, y=2)
        assert "lib:join: the callable that finds its dispatch arguments " in str(caught.value)
        assert text in str(caught.value)
        assert isinstance(caught.value.__cause__, TypeError)


def test_a_wrong_call_is_told_from_a_wrong_finder() -> None:
    """The error of the function itself is raised."""
    join = finding(lambda x, y=None: (x, y))
    with pytest.raises(TypeError, match=r"^join\(\) missing a required argument: 'x'$"):
        join()
    with pytest.raises(TypeError, match=r"^join\(\) got an unexpected keyword argument 'z'$"):
        join(1, z=2)


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
