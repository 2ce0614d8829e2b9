"""Explanations, as people read them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import pytest

from spatch_core.types import Explanation
from tests.deferring_library import Foreign, Own, f, system


def lines(explanation: Explanation) -> list[str]:
    """Return the lines of an explanation, without the space that aligns them."""
    return [" ".join(line.split()) for line in str(explanation).splitlines()]


def test_explanation_reads_as_a_table() -> None:
    """F7: a straight answer to "what would run, and why?"."""
    foreign = f"{Foreign.__module__}:Foreign"
    assert lines(f.explain(Foreign(), 2)) == [
        f"lib:f({foreign})",
        "first defers: n is too large",
        "> second runs",
        "default comes later",
    ]
    assert lines(f.explain(None)) == [
        "lib:f(no dispatch types)",
        "first does not match: no argument has a type to dispatch on",
        "second does not match: no argument has a type to dispatch on",
        "> default runs: no backend takes the call",
    ]
    assert lines(system.explain_types("lib:f", [Foreign])) == [
        f"lib:f({foreign})",
        f"first would be asked: {Foreign.__module__}:wants_two decides",
        "second runs: unless one above does",
        "default comes later",
    ]
    assert str(f.explain(Foreign()).backends[0]) == "first runs"
    assert str(f.explain(3).backends[-1]) == "default runs: no backend takes the call"


def test_a_disabled_default_does_not_come_later() -> None:
    """A call never reaches it; without a backend, the call would be refused."""
    with system.backend_opts(disable="default"):
        assert lines(f.explain(Foreign(), 2))[-1] == "default inactive: it is disabled"
        assert lines(f.explain(None))[-1].startswith("default would refuse: the library's own")


def test_explanation_can_be_kept() -> None:
    """It is plain data: compared, copied, pickled."""
    explanation = f.explain(Foreign())
    assert explanation == f.explain(Foreign())
    assert explanation != f.explain(Own())
    assert pickle.loads(pickle.dumps(explanation)) == copy.deepcopy(explanation) == explanation
    assert isinstance(explanation, Explanation)
    with pytest.raises(FrozenInstanceError):
        explanation.selected = "second"  # type: ignore[misc]
