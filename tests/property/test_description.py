"""Descriptions: any valid one survives a round trip, and any fault is reported."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatch_core._description import FIELDS, FUNCTION_FIELDS, Description
from spatch_core._errors import Source
from spatch_core._parsing import parse_description
from spatch_core.exceptions import DescriptionError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SOURCE = Source("gpu = pkg:gpu.toml", "gpu.toml")


# --- random descriptions -------------------------------------------------------------

names = st.text("abcxyz019_.-ßé", min_size=1, max_size=8).filter(lambda name: name != "default")
words = st.text("abcXYZ_äß", min_size=1, max_size=6)
dotted = st.lists(words, min_size=1, max_size=3).map(".".join)
identifiers = st.builds("{}:{}".format, dotted, dotted)
patterns = st.builds("{}{}".format, st.sampled_from(["", "~", "@"]), identifiers)
# TOML holds every character but surrogates; it reads \r\n as \n only outside of escapes.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
functions = st.fixed_dictionaries(
    {"function": identifiers},
    optional={
        "should_run": identifiers,
        "uses_context": st.booleans(),
        "additional_docs": texts,
    },
)
defaults = st.fixed_dictionaries(
    {},
    optional={
        "function": identifiers,
        "should_run": identifiers,
        "uses_context": st.booleans(),
        "additional_docs": texts,
    },
)
generations = st.fixed_dictionaries(
    {"backend": identifiers}, optional={"modules": st.lists(dotted, max_size=3)}
)


@st.composite
def descriptions(draw: st.DrawFn, with_defaults: bool = True) -> dict[str, Any]:
    """Fields as they stand in a file; optional ones may be missing."""
    name = draw(names)
    higher, lower = draw(st.lists(names, max_size=3)), draw(st.lists(names, max_size=3))
    higher = [other for other in higher if other != name]
    lower = [other for other in lower if other != name and other not in higher]
    table: dict[str, Any] = draw(st.dictionaries(identifiers, functions, max_size=3))
    if draw(st.booleans()):
        table["auto-generation"] = draw(generations)
    if with_defaults and draw(st.booleans()):
        table["defaults"] = draw(defaults)
    fields = {
        "name": name,
        "primary_types": draw(st.lists(patterns, min_size=1, max_size=3)),
        "secondary_types": draw(st.lists(patterns, max_size=3)),
        "requires_opt_in": draw(st.booleans()),
        "higher_priority_than": higher,
        "lower_priority_than": lower,
        "url": draw(st.sampled_from(["", "http://a", "https://gpu.example/a?b#c"])),
        "functions": table,
    }
    left_out = draw(st.sets(st.sampled_from(FIELDS[2:])))
    return {key: value for key, value in fields.items() if key not in left_out}


# --- writing one ---------------------------------------------------------------------


def dump(description: Description) -> dict[str, Any]:
    """Write every field of a description, whether it was left out or not."""
    table: dict[str, Any] = {}
    for identifier, each in description.functions.items():
        table[identifier] = {
            "function": each.function,
            "uses_context": each.uses_context,
            "additional_docs": each.additional_docs,
        }
        if each.should_run is not None:
            table[identifier]["should_run"] = each.should_run
    if description.auto_generation is not None:
        table["auto-generation"] = {
            "backend": description.auto_generation.backend,
            "modules": list(description.auto_generation.modules),
        }
    return {
        "name": description.name,
        "primary_types": list(map(str, description.primary_types)),
        "secondary_types": list(map(str, description.secondary_types)),
        "requires_opt_in": description.requires_opt_in,
        "higher_priority_than": list(description.higher_priority_than),
        "lower_priority_than": list(description.lower_priority_than),
        "url": description.url,
        "functions": table,
    }


def quote(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def to_toml(fields: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """Write fields as TOML; JSON's strings, lists and booleans are valid TOML."""
    lines = [f"[{'.'.join(map(quote, path))}]"] if path else []
    tables = {key: value for key, value in fields.items() if isinstance(value, Mapping)}
    for key, value in fields.items():
        if key not in tables:
            text = json.dumps(value, ensure_ascii=False)
            # The one control character that JSON does not escape.
            lines.append(f"{key} = {text}".replace("\x7f", r"\u007f"))
    lines += [to_toml(value, (*path, key)) for key, value in tables.items()]
    return "\n".join(lines)


def parse(fields: Any) -> Description:
    return parse_description(fields, SOURCE)


# --- what must hold ------------------------------------------------------------------


@given(descriptions())
def test_what_is_dumped_is_parsed_the_same(fields: dict[str, Any]) -> None:
    """D6: a description survives being written and read again."""
    description = parse(fields)
    assert parse(dump(description)) == description


@given(descriptions(with_defaults=False))
def test_what_is_parsed_is_dumped_the_same(fields: dict[str, Any]) -> None:
    """D6: nothing is lost, and only the defaults are added."""
    dumped = dump(parse(fields))
    assert {key: dumped[key] for key in fields if key != "functions"} == {
        key: value for key, value in fields.items() if key != "functions"
    }
    given_functions = fields.get("functions", {})
    assert list(dumped["functions"]) == sorted(
        given_functions, key=lambda key: key == "auto-generation"
    )
    for key, table in given_functions.items():
        assert dumped["functions"][key].items() >= table.items()


@given(descriptions())
def test_every_form_means_the_same(fields: dict[str, Any]) -> None:
    """D4: a file, a mapping and an object."""
    description = parse(fields)
    assert parse(tomllib.loads(to_toml(fields))) == description
    assert parse(SimpleNamespace(**fields)) == description
    assert parse(type("Backend", (), fields)) == description


@given(descriptions())
def test_defaults_are_what_each_function_would_say_itself(fields: dict[str, Any]) -> None:
    """D9: they mean the same as repeating the fields."""
    table = fields.get("functions", {})
    shared = table.get("defaults", {})
    written_out = {
        **fields,
        "functions": {
            key: value if key == "auto-generation" else {**shared, **value}
            for key, value in table.items()
            if key != "defaults"
        },
    }
    assert parse(written_out) == parse(fields)


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), patterns),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=5), identifiers), inner, max_size=3),
    ),
    max_leaves=8,
)
FUNCTION_TABLE = st.dictionaries(
    st.one_of(identifiers, st.sampled_from(["defaults", "auto-generation", "default", "lib.f"])),
    st.one_of(
        anything,
        st.dictionaries(
            st.sampled_from([*FUNCTION_FIELDS, "backend", "modules", "shouldrun"]), anything
        ),
    ),
    max_size=3,
)


@given(
    st.dictionaries(
        st.sampled_from([*FIELDS, "primary_type", "anything"]),
        st.one_of(anything, FUNCTION_TABLE, st.lists(patterns)),
    )
)
def test_any_content_of_a_file_is_valid_or_reported(fields: dict[str, Any]) -> None:
    """D12: no other error, and each fault once, with its key and a remedy."""
    try:
        description = parse(fields)
    except DescriptionError as error:
        keys = [problem.key for problem in error.problems]
        assert keys
        assert len(keys) == len(set(keys))
        for problem in error.problems:
            assert problem.remedy
            assert problem.source == SOURCE
            assert problem.key is not None
            # It starts with a key that is there, or that is missing and required.
            top = problem.key.split(".")[0].split("[")[0]
            required = {"name", "primary_types"}
            if fields.keys() & {"to_default", "from_default", "copy_into"}:
                required |= {"to_default", "from_default"}
            assert top in fields or top in required
            assert str(problem)
    else:
        assert parse(dump(description)) == description


@given(descriptions(), st.data())
def test_each_fault_is_found_beside_all_others(fields: dict[str, Any], data: st.DataObject) -> None:
    """D12: all faults, not the first."""
    breaking = {
        "name": ("a b", "name"),
        "primary_types": ([], "primary_types"),
        "secondary_types": ([0], "secondary_types[0]"),
        "requires_opt_in": ("no", "requires_opt_in"),
        "higher_priority_than": (["*"], "higher_priority_than[0]"),
        "lower_priority_than": ({}, "lower_priority_than"),
        "functions": ({"f": {}, "a:b": 1}, None),
    }
    chosen = data.draw(st.sets(st.sampled_from(sorted(breaking)), min_size=1))
    expected = {breaking[key][1] for key in chosen - {"functions"}}
    if "functions" in chosen:
        expected |= {'functions."f"', 'functions."a:b"'}
    with pytest.raises(DescriptionError) as caught:
        parse({**fields, **{key: breaking[key][0] for key in chosen}})
    assert {problem.key for problem in caught.value.problems} == expected
