"""The minimal example, used as a reader would try it."""

from __future__ import annotations

from decimal import Decimal

import pytest

import minimal


def test_the_library_serves_its_own_types() -> None:
    """Installing the backends does not change results for floats."""
    assert minimal.sqrt(2.0) == 2.0**0.5


def test_a_new_type_goes_to_the_backend_that_knows_it() -> None:
    """The library cannot compute the root of decimals; the backend returns decimals."""
    assert minimal.sqrt(Decimal(2)) == Decimal(2).sqrt()
    with minimal.backend_opts(disable="precise"), pytest.raises(TypeError):
        minimal.sqrt(Decimal(2))


def test_a_backend_for_the_same_type_runs_when_asked_for() -> None:
    """The opt-in backend runs only inside the block, and defers with a reason."""
    with minimal.backend_opts(prioritize="rough", trace=True) as trace:
        assert minimal.sqrt(2.0) == 1.414
        assert isinstance(minimal.sqrt(-2.0), complex)
    assert minimal.sqrt(2.0) == 2.0**0.5
    assert [event.backend for event in trace] == ["rough", "rough", "default"]
    assert trace[1].reason == "it is for positive numbers"
