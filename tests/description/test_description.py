"""Descriptions are immutable values."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from spatch_core._description.description import Description, Implementation
from spatch_core._description.parsing import parse_description
from spatch_core._reporting.problems import Source
from spatch_core._type_patterns import TypePattern

MINIMAL: dict[Any, Any] = {"name": "gpu", "primary_types": ["cupy:ndarray"]}


def parse(fields: Any) -> Description:
    return parse_description(fields, Source())


def with_function(**fields: Any) -> dict[str, Any]:
    return {**MINIMAL, "functions": {"lib:blur": fields}}


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["numpy:ndarray"], False),
        (["~numpy:ndarray"], False),
        (["@numbers:Real"], True),
        (["numpy:ndarray", "@numbers:Real"], True),
    ],
)
def test_a_backend_is_abstract_if_a_primary_type_is(patterns: list[str], expected: bool) -> None:
    """P2: abstract ones come after concrete ones."""
    assert parse({**MINIMAL, "primary_types": patterns}).is_abstract is expected


def test_a_backend_with_an_abstract_secondary_type_alone_is_concrete() -> None:
    """P2: secondary types do not count."""
    assert not parse({**MINIMAL, "secondary_types": ["@numbers:Real"]}).is_abstract


@pytest.mark.parametrize("field", [each.name for each in dataclasses.fields(Description)])
def test_a_description_is_immutable(field: str) -> None:
    description = parse(MINIMAL)
    with pytest.raises(AttributeError):
        setattr(description, field, None)


@pytest.mark.parametrize(
    "description",
    [
        parse(with_function(function="p:f")),
        Description("gpu", (TypePattern("m:Q"),)),
    ],
    ids=["parsed", "made"],
)
def test_the_functions_of_a_description_are_immutable(description: Description) -> None:
    functions: Any = description.functions
    with pytest.raises(TypeError):
        functions["lib:new"] = Implementation("p:f")


def test_a_description_does_not_follow_later_changes_of_the_fields_it_was_made_from() -> None:
    fields = with_function(function="p:f")
    fields["primary_types"] = ["a:b"]
    description = parse(fields)
    fields["primary_types"].append("c:d")
    fields["functions"]["lib:blur"]["function"] = "p:g"
    fields["functions"]["lib:other"] = {"function": "p:h"}
    assert description.primary_types == (TypePattern("a:b"),)
    assert dict(description.functions) == {"lib:blur": Implementation("p:f")}


def test_descriptions_can_be_hashed() -> None:
    assert len({parse(MINIMAL), parse(MINIMAL)}) == 1
