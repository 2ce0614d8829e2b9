"""Where keys stand in a file."""

from __future__ import annotations

from textwrap import dedent

import pytest

from spatch_core.examination.layout import find_layout, key_path

TEXT = dedent(
    '''\
    name = "oil" # functions = 1
    primary_types = [
        "a:A", # [functions]
        "b:B",
    ]
    text = """
    name = 1
    """

    [functions.defaults]
    uses_context = true
    [functions . 'l:f']
    function = "m:f"
    [functions."l:g"] # g
    also = { function = "m:g", should_run = "m:s" }
    [[tool]]
    x = 1979-05-27 07:32:00
    [[tool]]
    x = 2
    [attributes]
    "l:x" = "m:x"
    '''
)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("name", 1),
        ("primary_types", 2),
        ("primary_types[1]", 4),
        ("primary_types[7]", 2),
        ("text", 6),
        ("functions.defaults.uses_context", 11),
        ('functions."l:f"', 12),
        ('functions."l:f".function', 13),
        ('functions."l:f".should_run', 12),
        ('functions."l:g".also.should_run', 15),
        ("tool[1].x", 19),
        ('attributes."l:x"', 21),
        ("missing", 1),
    ],
)
def test_the_line_of_a_key_or_of_its_table(key: str, line: int) -> None:
    assert find_layout(TEXT).line(key) == line


def test_keys_are_ranked_by_their_place() -> None:
    """A missing key ranks before all others."""
    layout = find_layout(TEXT)
    keys = ["missing", "name", "primary_types[0]", "primary_types[1]", 'functions."l:g"']
    assert sorted(keys, key=layout.position) == keys
    assert layout.position("missing") == -1


def test_offsets_lead_to_the_text() -> None:
    """Each pair has the offsets of its key, of the key's last part, and of its value."""
    (section,) = (s for s in find_layout(TEXT).sections if s.path == ("functions", "l:f"))
    (pair,) = section.pairs
    assert TEXT[section.start : section.end] == "[functions . 'l:f']\nfunction = \"m:f\""
    assert TEXT[pair.start : pair.end] == 'function = "m:f"'
    assert TEXT[pair.value : pair.end] == '"m:f"'


def test_paths_are_written_as_the_validator_writes_them() -> None:
    assert key_path(("functions", "l:f", "function")) == 'functions."l:f".function'
    assert key_path(("functions", "*", "function")) == 'functions."*".function'
    assert key_path(("functions", "auto-generation", "modules", 0)) == (
        "functions.auto-generation.modules[0]"
    )


def test_a_key_that_is_not_there_has_the_line_of_what_would_hold_it() -> None:
    """The innermost table counts; dots in quoted parts do not separate."""
    layout = find_layout("a = 1\n[b]\n[b.c]\nd = [\n1]\n['x.y']\nz = 1\n")
    keys = ["a", "a.b", "a[0]", "ab", "b.c.d[0]", "b.c.d[7].e", "b.c.x", "b.x", "x.y.z.q", "x"]
    assert [layout.line(each) for each in keys] == [1, 1, 1, 1, 5, 4, 3, 2, 7, 1]
    assert [layout.position(each) for each in ("a", "b.x", "ab")] == [0, 1, -1]


def test_long_key_paths_have_no_lines() -> None:
    """They would be repeated for each key in the table."""
    layout = find_layout(f"a = 1\n[b]\n[b.{'k' * 2000}]\nc = 1\n")
    assert [*layout.lines] == ["a", "b"]
    assert layout.line(f"b.{'k' * 2000}.c") == 2
