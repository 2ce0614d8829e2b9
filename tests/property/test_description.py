"""Descriptions: any valid one is read as it is written, and any fault is reported."""

from __future__ import annotations

import warnings
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spatch_core import BackendSystem

FUNCTION_FIELDS = ("function", "should_run", "uses_context", "additional_docs")
DEFAULTS: dict[str, Any] = {
    "secondary_types": [],
    "requires_opt_in": False,
    "higher_priority_than": [],
    "lower_priority_than": [],
    "url": "",
}
FIELDS = ("name", "primary_types", *DEFAULTS, "functions", "to_default", "from_default")

names = st.text("abcxyz019_.-ßé", min_size=1, max_size=8).filter(lambda name: name != "default")
words = st.text("abcXYZ_äß", min_size=1, max_size=6)
dotted = st.lists(words, min_size=1, max_size=3).map(".".join)
identifiers = st.builds("{}:{}".format, dotted, dotted)
patterns = st.builds("{}{}".format, st.sampled_from(["", "~", "@"]), identifiers)
options: dict[Any, Any] = {
    "should_run": identifiers,
    "uses_context": st.booleans(),
    "additional_docs": st.text(max_size=20),
}
functions = st.fixed_dictionaries({"function": identifiers}, optional=options)
defaults = st.fixed_dictionaries({}, optional={"function": identifiers, **options})


@st.composite
def descriptions(draw: st.DrawFn) -> dict[str, Any]:
    """Fields as they stand in a file; optional ones may be missing."""
    name = draw(names)
    higher, lower = draw(st.lists(names, max_size=3)), draw(st.lists(names, max_size=3))
    higher = list(dict.fromkeys(other for other in higher if other != name))
    lower = list(dict.fromkeys(other for other in lower if other not in (name, *higher)))
    table: dict[str, Any] = draw(st.dictionaries(identifiers, functions, max_size=3))
    if draw(st.booleans()):
        table["defaults"] = draw(defaults)
    fields = {
        "secondary_types": draw(st.lists(patterns, max_size=3)),
        "requires_opt_in": draw(st.booleans()),
        "higher_priority_than": higher,
        "lower_priority_than": lower,
        "url": draw(st.sampled_from(["", "http://a", "https://gpu.example/a?b#c"])),
        "functions": table,
    }
    left_out = draw(st.sets(st.sampled_from([*fields])))
    primary = draw(st.lists(patterns, min_size=1, max_size=3))
    kept = {key: value for key, value in fields.items() if key not in left_out}
    return {"name": name, "primary_types": primary, **kept}


def load(fields: Any) -> BackendSystem:
    """Return a library with this description, whose backends are loaded."""
    system = BackendSystem(None, "DESCRIBED", backends=[fields])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        list(system.backends)
    return system


@given(descriptions())
def test_a_description_says_what_is_written(fields: dict[str, Any]) -> None:
    """D3, D4: only the defaults of fields, and ``functions.defaults``, are added."""
    system = load(fields)
    assert system.problems == ()
    description: Any = system.backends[fields["name"]]
    for field in (*DEFAULTS, "primary_types"):
        found = getattr(description, field)
        expected = fields.get(field, DEFAULTS.get(field))
        assert (list(map(str, found)) if isinstance(expected, list) else found) == expected
    table = dict(fields.get("functions", {}))
    shared = table.pop("defaults", {})
    assert list(description.functions) == list(table)
    for identifier, own in table.items():
        entry = {"should_run": None, "uses_context": False, "additional_docs": "", **shared, **own}
        found = {field: getattr(description.functions[identifier], field) for field in entry}
        assert found == entry


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), patterns),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=5), identifiers), inner, max_size=3),
    ),
    max_leaves=8,
)
function_tables = st.dictionaries(
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
        st.one_of(anything, function_tables, st.lists(patterns)),
    )
)
def test_any_content_of_a_file_is_valid_or_reported(fields: dict[str, Any]) -> None:
    """D5: no other error, and each fault once, with its key and a remedy."""
    system = load(fields)
    faults = [each for each in system.problems if each.skips]
    assert bool(faults) is (list(system.backends) == ["default"])
    keys = [each.key for each in faults]
    assert len(keys) == len(set(keys))
    required = {"name", "primary_types", "to_default", "from_default"}
    for problem in system.problems:
        assert problem.remedy
        assert problem.key is not None
        # It starts with a key that is there, or that is missing and required.
        assert problem.key.split(".")[0].split("[")[0] in fields.keys() | required
        assert str(problem)


@given(descriptions(), st.data())
def test_each_fault_is_found_beside_all_others(fields: dict[str, Any], data: st.DataObject) -> None:
    """D5: all faults, not the first."""
    breaking: dict[str, Any] = {
        "name": ("a b", ["name"]),
        "primary_types": ([], ["primary_types"]),
        "secondary_types": ([0], ["secondary_types[0]"]),
        "requires_opt_in": ("no", ["requires_opt_in"]),
        "higher_priority_than": (["*"], ["higher_priority_than[0]"]),
        "lower_priority_than": ({}, ["lower_priority_than"]),
        "functions": ({"f": {}, "a:b": 1}, ['functions."f"', 'functions."a:b"']),
    }
    chosen = data.draw(st.sets(st.sampled_from(sorted(breaking)), min_size=1))
    system = load({**fields, **{key: breaking[key][0] for key in chosen}})
    found = {problem.key for problem in system.problems}
    assert found == {each for key in chosen for each in breaking[key][1]}
