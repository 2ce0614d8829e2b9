"""Descriptions in code: objects, and callables in them."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import pytest

from spatch_core._description.callables import as_mapping, identify


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


def test_an_object_gives_its_fields_and_what_looks_like_one() -> None:
    """D4: its other attributes are ignored."""

    class Backend:
        name = "gpu"
        primary_typs = ("m:Q",)
        helper = 3

    assert dict(as_mapping(Backend(), ())) == {"name": "gpu"}
    assert dict(as_mapping(Backend, ())) == {"name": "gpu", "primary_typs": ("m:Q",)}


def test_a_table_that_can_only_be_asked_is_asked_for_each_function() -> None:
    """D7: it has `get`, but cannot list its functions."""

    class Table:
        def get(self, key: str) -> object:
            return {"function": "m:f"} if key == "lib:f" else None

    found = as_mapping({"name": "gpu", "functions": Table()}, ("lib:f", "lib:g"))
    assert found == {"name": "gpu", "functions": {"lib:f": {"function": "m:f"}}}
