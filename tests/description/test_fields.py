"""The tables of fields agree with the classes that hold them."""

from __future__ import annotations

import dataclasses

import pytest

from spatch_core._description.description import AutoGeneration, Description, Implementation
from spatch_core._description.fields import AUTO_GENERATION_FIELDS, FIELDS, FUNCTION_FIELDS


@pytest.mark.parametrize(
    "known", [FIELDS, FUNCTION_FIELDS, AUTO_GENERATION_FIELDS], ids=["all", "function", "tool"]
)
def test_no_field_is_listed_twice(known: tuple[str, ...]) -> None:
    assert len(set(known)) == len(known)


def test_every_field_has_its_place_in_a_description() -> None:
    """D6: the lists of fields and the classes are the same table."""
    names = {each.name for each in dataclasses.fields(Description)}
    others = {"auto_generation", "every", "source", "in_code", "problems", "unmet"}
    others |= {"varies", "absent"}
    assert names == {*FIELDS, *others}
    fields = {each.name for each in dataclasses.fields(Implementation)}
    assert fields == {*FUNCTION_FIELDS, "variant"}
    assert {each.name for each in dataclasses.fields(AutoGeneration)} == {*AUTO_GENERATION_FIELDS}
