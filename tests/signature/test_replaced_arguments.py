"""What a finder returns to replace the arguments of a call."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import ReplacedArguments


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
