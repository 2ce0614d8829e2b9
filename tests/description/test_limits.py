"""Limits of a backend's file; `tests/attacks/test_files.py` has the memory that they save."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatch_core._description.files import parse_toml, read_content
from spatch_core._description.limits import (
    MOST_BYTES,
    MOST_PARTS,
    LimitError,
    check_keys,
    check_size,
)

PARTS = st.lists(
    st.sampled_from(["a", "b-1", '"q.q"', "'l.l'", '"\\".\\""', '""', "1"]),
    min_size=1,
    max_size=MOST_PARTS + 8,
)
SEPARATORS = st.sampled_from([".", " . ", "\t."])
FORMS = st.sampled_from(["{} = 1", "[{}]", "[[{}]]", "x = {{ y = 1, {} = 2 }}"])
DOTS = "." * 40


@given(PARTS, SEPARATORS, FORMS)
def test_the_parts_of_a_key_are_counted(parts: list[str], separator: str, form: str) -> None:
    """E1: wherever it stands, and however its parts are written."""
    text = f"s = '''\n{DOTS}\n''' # {DOTS}\n" + form.format(separator.join(parts))
    if len(parts) > MOST_PARTS:
        with pytest.raises(LimitError, match=r"more than 32 parts \(at line 4, column \d+\)"):
            check_keys(text)
    else:
        check_keys(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = [" + ", ".join(["1.5"] * 40) + "]",
        f"a = '{DOTS}'",
        f'a = "\\"{DOTS}"',
        f'a = """""{DOTS}"""',
        f"a = '''''{DOTS}'''",
        f"# {DOTS}",
        f"a = '{DOTS}",  # not closed: a parser stops here
    ],
)
def test_other_dots_do_not_count(text: str) -> None:
    check_keys(text)


def test_a_large_file_is_not_parsed() -> None:
    """E1: the limit itself is allowed."""
    check_size(b" " * MOST_BYTES)
    with pytest.raises(LimitError, match="more than 2,097,152 bytes"):
        parse_toml(b" " * (MOST_BYTES + 1))


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no endless file")
def test_an_endless_file_is_not_read() -> None:
    """E1: not even into memory."""
    with pytest.raises(LimitError):
        parse_toml(read_content("/dev/zero"))
