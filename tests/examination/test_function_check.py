"""Implementations that cannot take the library's calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from fractions import Fraction
from inspect import signature
from typing import Any

import pytest

from spatch_core.examination.findings import Severity
from spatch_core.examination.function_check import check_callable, check_conversion, check_every
from spatch_core.examination.mentions import Mention, Role
from spatch_core.examination.signatures import find_signature


def default(x: Any, n: int = 1) -> Any: ...


async def coroutine(context: Any, x: Any, n: int = 1) -> Any: ...


def test_another_default_value_is_a_warning() -> None:
    """A call without the argument is accepted, but means something else."""
    mention = Mention("key", Role.FUNCTION, "m:f", "l:f")
    finding = check_callable(mention, lambda x, n=2: x, signature(default))
    assert finding is not None
    assert finding.severity is Severity.WARNING
    assert "n=2 instead of n=1" in finding.message


EVERY = 'functions."*".function'


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (lambda context, *args, **kwargs: args, None),
        (lambda *args, **kwargs: args, None),
        (lambda context, x, n=1: x, None),
        (3, "'m:f' is not a function but of type 'int'"),
        (lambda: 1, "m:f() takes no DispatchContext, which names the called function"),
        (
            lambda context, x: x,
            (
                "m:f(context, x) cannot take all calls of the library's l:f(x, n=1): "
                "it does not take 'n'"
            ),
        ),
        (
            lambda context, x, n=2: x,
            (
                "m:f(context, x, n=2) has other default values than the library's l:f(x, n=1), so "
                "a call without these arguments means something else: n=2 instead of n=1"
            ),
        ),
        (
            lambda x, n=1: x,
            (
                "m:f(x, n=1) takes no DispatchContext, which the implementation of every function "
                "gets first"
            ),
        ),
    ],
)
def test_one_implementation_of_every_function(thing: Any, message: str | None) -> None:
    """It must take the context, and the calls of each function."""
    mention = Mention(EVERY, Role.FUNCTION, "m:f", "*", True)
    known = find_signature(default)
    assert known is not None
    finding = check_every(mention, thing, [("l:f", known)])
    assert (finding is None) == (message is None)
    if finding is not None:
        assert finding.message.startswith(str(message))
    if message is not None and "l:f" in message:
        assert finding is not None
        assert finding.remedy == "Take *args and **kwargs, or give l:f a table of its own"


length = len


class Arrays:
    def back(self, x: Any) -> Any: ...

    @staticmethod
    def there(x: Any) -> Any: ...


async def converting(x: Any) -> Any: ...


def generator(x: Any) -> Iterator[Any]:
    yield x


async def asynchronous(x: Any) -> AsyncIterator[Any]:
    yield x


@pytest.mark.parametrize(
    ("key", "thing", "message"),
    [
        ("to_default", lambda x: x, None),
        ("to_default", lambda array, dtype=None, **kwargs: array, None),
        ("from_default", Fraction, None),
        ("from_default", Arrays.there, None),
        ("from_default", Arrays().back, None),
        ("to_default", int, None),  # without a signature in some releases of Python
        ("copy_into", lambda original, converted: None, None),
        ("to_default", 3, "'m:f' is not a function but of type 'int'"),
        ("to_default", converting, "'m:f' is a coroutine or generator function"),
        ("from_default", generator, "'m:f' is a coroutine or generator function"),
        ("from_default", asynchronous, "'m:f' is a coroutine or generator function"),
        ("to_default", Arrays.back, "m:f(self, x) is an unbound method"),
        (
            "to_default",
            lambda: 1,
            "m:f() cannot be called as to_default(x): too many positional arguments",
        ),
        (
            "from_default",
            lambda x, like: x,
            "m:f(x, like) cannot be called as from_default(x): missing a required argument: 'like'",
        ),
        (
            "from_default",
            lambda x, *, device: x,
            (
                "m:f(x, *, device) cannot be called as from_default(x): it requires 'device' by "
                "keyword"
            ),
        ),
        (
            "copy_into",
            lambda converted: None,
            (
                "m:f(converted) cannot be called as copy_into(original, converted): too many "
                "positional arguments"
            ),
        ),
    ],
)
def test_why_a_conversion_cannot_be_called(key: str, thing: Any, message: str | None) -> None:
    finding = check_conversion(Mention(key, Role.CONVERSION, "m:f"), thing)
    assert (finding is None) == (message is None)
    if finding is not None:
        assert finding.message.startswith(str(message))
        assert finding.remedy
