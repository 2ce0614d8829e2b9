"""Editing the functions of a file, whatever else is in it."""

from __future__ import annotations

from typing import Any

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from spatch_core._description.files import parse_toml
from spatch_core.examination.editing import edit_functions

names = st.sampled_from(["l:a", "l:b", "l:c", 'l:"d"', "l:é"])
fields = st.fixed_dictionaries(
    {"function": st.sampled_from(["m:f", "m:g"])},
    optional={
        "should_run": st.sampled_from(["m:s", "m:t"]),
        "uses_context": st.booleans(),
        "additional_docs": st.sampled_from(["x", "two\nlines", '"""', "\\"]),
    },
)
functions = st.dictionaries(names, fields, max_size=4)
comments = st.sampled_from(["", "\n", "# c\n", "\n# c\n\n", "# a\n# b\n"])


@given(functions, functions, st.data())
def test_any_functions_become_any_others(
    before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]], data: st.DataObject
) -> None:
    """The text has the wanted functions and everything else; editing again changes nothing."""
    parts = ['name = "a"\n']
    for name in data.draw(st.permutations(sorted(before))):
        parts += [data.draw(comments), f"[functions.{tomlkit.item(name).as_string()}]\n"]
        for key, value in before[name].items():
            parts += [
                f"{key} = {tomlkit.item(value).as_string()}",
                data.draw(st.sampled_from(["\n", " # d\n"])),
            ]
    tail = data.draw(st.sampled_from([{}, {"x": 1}]))
    parts += [data.draw(comments), "[tail]\nx = 1\n" if tail else ""]
    written = "".join(parts).removesuffix(data.draw(st.sampled_from(["", "\n"])))
    for newline in ("\n", "\r\n"):
        old = written.replace("\n", newline)
        new = edit_functions(old, before, after)
        found = parse_toml(new.encode())
        assert (found["name"], found.get("tail", {})) == ("a", tail)
        assert {key: _stripped(each) for key, each in found.get("functions", {}).items()} == {
            key: _stripped(each) for key, each in after.items()
        }
        assert edit_functions(new, after, after) == new
        assert edit_functions(old, before, before) == old
        kept = [each for each in before if each in after]
        if len(kept) == len(before):
            assert new.count("# a") == old.count("# a")
        if newline in old:
            assert new.count("\r\n") == (new.count("\n") if newline == "\r\n" else 0)


def _stripped(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: str(value).strip() for key, value in entry.items()}
