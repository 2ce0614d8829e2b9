"""What a finder returns to replace the arguments of a call."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import ReplacedArguments
from spatch_core._signature.replaced_arguments import has_replaced, replaced


def test_it_is_told_from_dispatch_arguments() -> None:
    """F5: in the tuple that a finder's result becomes."""
    found = tuple(ReplacedArguments([1, 2], "x", key="y"))
    assert has_replaced(found)
    assert replaced(found, (0,), {}) == ((1, 2), ("x",), {"key": "y"})
    for plain in ((), (1, 2)):
        assert not has_replaced(plain)
        assert replaced(plain, (0,), {"n": 1}) == (plain, (0,), {"n": 1})


def test_dispatch_arguments_are_several() -> None:
    """F5: the error is raised in the finder, where the mistake is."""
    wrong: Any = 3
    with pytest.raises(TypeError, match="takes the dispatch arguments first, several in a tuple"):
        ReplacedArguments(wrong, 3)


def test_arguments_may_have_any_names() -> None:
    """F5: even the names of its own attributes."""
    made = ReplacedArguments([1], dispatch_args=2, args=3, kwargs=4)
    assert made.dispatch_args == [1]
    assert made.kwargs == {"dispatch_args": 2, "args": 3, "kwargs": 4}
