"""Conversions that cannot take what they are called with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from fractions import Fraction
from typing import Any

import pytest

from spatch_core.examination.conversion_check import check_conversion
from spatch_core.examination.mentions import Mention, Role


class Arrays:
    def back(self, x: Any) -> Any: ...

    @staticmethod
    def there(x: Any) -> Any: ...


async def coroutine(x: Any) -> Any: ...


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
        ("to_default", 3, "'m:f' is no function but of type 'int'"),
        ("to_default", coroutine, "'m:f' is a coroutine or generator function"),
        ("from_default", generator, "'m:f' is a coroutine or generator function"),
        ("from_default", asynchronous, "'m:f' is a coroutine or generator function"),
        ("to_default", Arrays.back, "m:f(self, x) is a method without its object"),
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
def test_why_it_cannot_be_called(key: str, thing: Any, message: str | None) -> None:
    finding = check_conversion(Mention(key, Role.CONVERSION, "m:f"), thing)
    assert (finding is None) == (message is None)
    if finding is not None:
        assert finding.message.startswith(str(message))
        assert finding.remedy
