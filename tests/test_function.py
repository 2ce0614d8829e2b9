"""Where the dispatch arguments of a call are found."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core._function import Function


def f(x: Any, y: Any = None, /, z: Any = None, *, key: Any = None) -> None: ...


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
def test_what_was_given_and_is_not_none(
    dispatch_args: Any, args: Any, kwargs: Any, found: Any
) -> None:
    """In the order in which the library names them, not in that of the call."""
    assert Function("lib:f", f, dispatch_args).extract(args, kwargs) == found
