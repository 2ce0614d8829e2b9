"""The manner of a function, and fallback policies."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._manner import POLICIES, Manner, checked_exceptions, checked_policy


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_are_these(policy: str) -> None:
    """V2: four of them."""
    assert checked_policy(policy) == policy
    assert Manner(policy).fallback == policy


@pytest.mark.parametrize("given", ["Raise", "refuse", "", 3, None, ["raise"]])
def test_anything_else_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="fallback= takes one of 'default', 'warn'"):
        checked_policy(given)


def test_a_compositional_function_has_no_policy() -> None:
    """V4: the functions that it calls have their own."""
    with pytest.raises(TypeError, match="compositional"):
        Manner("default", compositional=True)


@pytest.mark.parametrize("given", [["ValueError"], [3], [int], [KeyboardInterrupt], [ValueError()]])
def test_only_classes_of_exceptions_defer(given: Any) -> None:
    """F15: an interrupt is none."""
    with pytest.raises(TypeError, match="defer_on= takes classes of exceptions"):
        BackendSystem(None, "MANNERLIB", defer_on=given)


def test_one_class_may_be_given_alone() -> None:
    assert checked_exceptions([KeyError, ValueError]) == (KeyError, ValueError)
    alone: Any = KeyError
    assert checked_exceptions(alone) == (KeyError,)
