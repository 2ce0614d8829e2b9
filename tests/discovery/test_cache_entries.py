"""An entry of the cache leads back to its description, or is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from spatch_core._description.description import Description
from spatch_core._description.parsing import parse_description
from spatch_core._discovery.cache_entries import is_entry_of, make_entry, restore
from spatch_core._discovery.lazy_functions import MALFORMED
from spatch_core._reporting.problems import Source
from tests.discovery.conftest import FIELDS

SOURCE = Source("loud = loud:loud.toml")
MINIMAL = {"name": "loud", "primary_types": ["m:A"]}


def read() -> bytes:
    pytest.fail("the file is read")


def described(fields: dict[str, Any]) -> Description:
    return parse_description(fields, SOURCE)


@pytest.fixture
def status(tmp_path: Path) -> os.stat_result:
    return tmp_path.stat()


WITH_ATTRIBUTES = {**MINIMAL, "attributes": {"lib:pi": "math:pi", "lib:e": "math:e"}}


@pytest.mark.parametrize(
    "fields",
    [FIELDS, MINIMAL, WITH_ATTRIBUTES, {**MINIMAL, "url": "https://loud.example"}],
    ids=["all-fields", "minimal", "attributes", "url"],
)
def test_an_entry_leads_back_to_its_description(
    fields: dict[str, Any], status: os.stat_result
) -> None:
    """Also after a round trip through JSON, which has no tuples."""
    known, functions = make_entry(status, described(fields))

    found, lazy = restore((json.loads(json.dumps(known)), functions), SOURCE, read)

    assert found == described(fields)
    assert repr(found) == repr(described(fields))
    docs = lazy.docs()
    for identifier, implementation in found.functions.items():
        text = docs if isinstance(docs, str) else docs[identifier]
        assert text == implementation.additional_docs


def test_an_entry_is_of_one_version_of_a_file(tmp_path: Path, status: os.stat_result) -> None:
    entry = make_entry(status, described(MINIMAL))
    assert is_entry_of(entry, tmp_path.stat())

    os.utime(tmp_path, ns=(0, 0))

    assert not is_entry_of(entry, tmp_path.stat())
    assert not is_entry_of(entry, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (0, 1),
        (1, []),
        (1, ["no pattern"]),
        (1, "builtins:str"),
        (2, None),
        (2, [1]),
        (3, 1),
        (4, {"a": 1}),
        (6, 1),
        (7, ["m:f"]),
        (9, [1]),
        (10, ["https://loud.example"]),
        (11, [[1, []], None]),
        (11, [["m:b", "m"], None]),
        (11, [None, ["m:f"]]),
        (11, "abc"),
        (12, {"lib:pi": "math:pi"}),
        (12, [["lib:pi"], []]),
        (12, [["lib:pi"], [3]]),
    ],
)
def test_a_malformed_entry_is_refused(status: os.stat_result, field: int, value: object) -> None:
    known, functions = make_entry(status, described(FIELDS))
    version, fields, identifiers = json.loads(json.dumps(known))
    fields[field] = value

    with pytest.raises(MALFORMED):
        restore(([version, fields, identifiers], functions), SOURCE, read)
