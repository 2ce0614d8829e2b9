"""Callables that stand in descriptions in code."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import pytest

from spatch_core._description.given import identify


def make(factor: int) -> Any:
    return lambda x: factor * x


def test_identifiers_differ_like_the_callables() -> None:
    """D10: all lambdas of a function have one name."""
    one, other = identify(make(1)), identify(make(2))
    assert str(one) == str(other) == f"{__name__}:make.<locals>.<lambda>"
    assert one == identify(one.given)
    assert one != other
    assert one == str(one)
    assert len({one, other}) == 2


def test_identifiers_are_plain_text_elsewhere() -> None:
    """In a pickle, for example: the callable itself need not be importable."""
    assert type(pickle.loads(pickle.dumps(identify(make(1))))) is str


def test_a_callable_without_name_has_that_of_its_class() -> None:
    """A partial, or an object."""
    assert identify(len) == "builtins:len"
    assert identify(functools.partial(len)).endswith(":partial")


def test_a_ufunc_has_no_module() -> None:
    """Of NumPy, for example."""
    numpy = pytest.importorskip("numpy")
    assert identify(numpy.add).endswith((":add", ":ufunc"))
    assert identify(numpy.add).given is numpy.add
