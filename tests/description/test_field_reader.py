"""Fields of the expected types are returned; anything else is a fault with its key path."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core._description.field_reader import FieldReader
from spatch_core._reporting.problems import Source
from spatch_core._type_patterns import TypePattern

SOURCE = Source("gpu = pkg:gpu.toml")


@pytest.fixture
def reader() -> FieldReader:
    return FieldReader("gpu", SOURCE)


def reported(reader: FieldReader) -> list[str | None]:
    assert all((each.backend, each.source) == ("gpu", SOURCE) for each in reader.problems)
    assert all(each.message and each.remedy for each in reader.problems)
    return [each.key for each in reader.problems]


def test_values_of_the_expected_types_are_returned(reader: FieldReader) -> None:
    fields: dict[str, Any] = {
        "text": "a",
        "flag": True,
        "list": ["m:Q", "~m:R"],
        "names": ["other", "default"],
        "table": {"a": 1},
    }

    assert reader.string(fields, "text", "text") == "a"
    assert reader.boolean(fields, "flag", "flag") is True
    assert list(reader.strings(fields, "list", "list")) == [(0, "m:Q"), (1, "~m:R")]
    assert reader.patterns(fields, "list") == (TypePattern("m:Q"), TypePattern("~m:R"))
    assert reader.backend_names(fields, "names", "gpu") == ("other", "default")
    assert reader.table(fields, "table", "table") == {"a": 1}
    assert reader.is_identifier("m:f", "functions")
    assert reported(reader) == []


def test_absent_values_are_empty(reader: FieldReader) -> None:
    assert reader.string({}, "x", "x") == ""
    assert reader.boolean({}, "x", "x") is False
    assert list(reader.strings({}, "x", "x")) == []
    assert reader.patterns({}, "x") == reader.backend_names({}, "x", "gpu") == ()
    assert reader.table({}, "x", "x") == {}
    assert reported(reader) == []


@pytest.mark.parametrize("value", [3, None, "text", object()], ids=["int", "None", "str", "object"])
def test_values_of_other_types_are_faults_and_read_as_absent(
    reader: FieldReader, value: object
) -> None:
    fields = {"x": value}
    if not isinstance(value, str):
        assert reader.string(fields, "x", "a.x") == ""
    assert list(reader.strings(fields, "x", "b.x")) == []
    assert reader.table(fields, "x", "c.x") == {}
    assert not reader.is_identifier(value, "d", ".x")

    expected = ["b.x", "c.x", "d.x"]
    assert reported(reader) == (expected if isinstance(value, str) else ["a.x", *expected])


def test_a_fault_inside_a_list_has_its_position(reader: FieldReader) -> None:
    fields = {"types": ["m:Q", "?", 1], "names": ["gpu", "a b", "other"]}

    assert reader.patterns(fields, "types") == (TypePattern("m:Q"),)
    assert reader.backend_names(fields, "names", own="gpu") == ("other",)

    assert sorted(map(str, reported(reader))) == ["names[0]", "names[1]", "types[1]", "types[2]"]


def test_an_identifier_is_a_fault_wherever_it_occurs(reader: FieldReader) -> None:
    for _ in range(2):
        assert not reader.is_identifier("no identifier", "functions", ".should_run")
        assert reader.is_identifier("m:f", "functions")

    assert reported(reader) == ["functions.should_run"] * 2
