"""The files of a new backend, from what is known about it."""

from __future__ import annotations

import ast
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from spatch_core._description.files import parse_toml
from spatch_core._type_patterns import TypePattern
from spatch_core.cli.backend_package import (
    NewBackend,
    definition,
    is_package_name,
    literal,
    write_files,
)


def function(x: Any, /, n: int = 1, *rest: Any, odd: Any = object, **more: Any) -> None: ...


BACKEND = NewBackend(
    name="gpu.2",
    project="paint-package-gpu-2",
    package="paint_package_gpu_2",
    library="paintlib",
    group="paintlib.backends",
    system="paintlib._dispatch:system",
    function="paintlib.filters:blur",
    signature=signature(function),
    types=(TypePattern("cupy:ndarray"),),
    requirements=("paint-lib",),
    requires_opt_in=True,
)


def test_every_template_is_filled() -> None:
    """No placeholder is left, and each file is in its place."""
    files = BACKEND.files()
    assert [*files] == [
        "README.md",
        "pyproject.toml",
        "src/paint_package_gpu_2/__init__.py",
        "src/paint_package_gpu_2/_backend.py",
        "src/paint_package_gpu_2/backend.toml",
        "src/paint_package_gpu_2/functions.py",
        "src/paint_package_gpu_2/py.typed",
        "tests/test_paint_package_gpu_2.py",
    ]
    for path, text in files.items():
        assert "${" not in text
        if path.endswith(".py"):
            ast.parse(text)
        if path.endswith(".toml"):
            parse_toml(text.encode())
    points = parse_toml(files["pyproject.toml"].encode())["project"]["entry-points"]
    assert points == {"paintlib.backends": {"gpu.2": "paint_package_gpu_2:backend.toml"}}


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
