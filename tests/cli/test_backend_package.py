"""The files of a new backend, from what is known about it."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from spatch_core.cli.backend_package import (
    definition,
    is_package_name,
    literal,
    write_files,
)


def function(x: Any, /, n: int = 1, *rest: Any, odd: Any = object, **more: Any) -> None: ...


def test_a_signature_is_written_as_code() -> None:
    """A default without a literal has a placeholder."""
    assert definition("blur", signature(function)) == (
        "def blur(x: Any, /, n: Any = 1, *rest: Any, odd: Any = _DEFAULT, **more: Any) -> Any:",
        True,
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", '"a"'), ('"', "'\"'"), (1, "1"), (None, "None"), ((1, ("a",)), '(1, ("a",))')],
)
def test_literals(value: object, text: str) -> None:
    assert literal(value) == text


@pytest.mark.parametrize("value", [float("inf"), [], (object(),), b"a"])
def test_what_has_no_literal(value: object) -> None:
    assert literal(value) is None


def test_names_of_packages() -> None:
    assert is_package_name("paint_gpu")
    assert not any(map(is_package_name, ["class", "2d", "öl", ""]))


def test_all_files_are_written_or_none(tmp_path: Path) -> None:
    write_files(tmp_path / "new", {"a/b.txt": "text"})
    assert (tmp_path / "new" / "a" / "b.txt").read_text() == "text"
    with pytest.raises(OSError, match="File name too long"):
        write_files(tmp_path / "other", {"a.txt": "", "b" * 300: ""})
    assert [each.name for each in tmp_path.iterdir()] == ["new"]
