"""What the environments are made of, and when they are made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from _workshop import ROOT, Distribution, clean_environment, example_distributions

if TYPE_CHECKING:
    from pathlib import Path

PYPROJECT = """
[project]
name = "example"
dependencies = ["numpy"]

[tool.pytest.ini_options]
addopts = "-ra"

[tool.setuptools.package-data]
example = ["*.toml"]
"""


@pytest.fixture
def distribution(tmp_path: Path) -> Distribution:
    folder = tmp_path / "example"
    (folder / "src/example").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (folder / "src/example/__init__.py").write_text("x = 1\n", encoding="utf-8")
    return Distribution(folder)


def test_a_change_of_the_code_changes_the_hash(distribution: Distribution, tmp_path: Path) -> None:
    before = distribution.copy_to(tmp_path / "before")
    (distribution.folder / "src/example/__init__.py").write_text("x = 2\n", encoding="utf-8")
    assert distribution.copy_to(tmp_path / "after") != before


@pytest.mark.parametrize(
    "path", ["tests/test_x.py", "src/example/__pycache__/x.pyc", "src/example.egg-info/PKG-INFO"]
)
def test_what_is_not_in_the_wheel_does_not_change_the_hash(
    distribution: Distribution, tmp_path: Path, path: str
) -> None:
    before = distribution.copy_to(tmp_path / "before")
    file = distribution.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x", encoding="utf-8")
    assert distribution.copy_to(tmp_path / "after") == before


def test_the_configuration_of_tools_is_no_requirement(distribution: Distribution) -> None:
    requirements = distribution.requirements
    assert "numpy" in requirements
    assert "package-data" in requirements
    assert "pytest" not in requirements


def test_what_was_compiled_here_stays_here(distribution: Distribution, tmp_path: Path) -> None:
    """It is of the interpreter that compiled it; a wheel is of another one, perhaps."""
    before = distribution.copy_to(tmp_path / "before")
    file = distribution.folder / "src/example/_fast.cpython-312-x86_64-linux-gnu.so"
    file.write_bytes(b"x")
    assert distribution.copy_to(tmp_path / "after") == before


def test_interpreters_share_wheels_but_compiled_ones(distribution: Distribution) -> None:
    assert not distribution.is_compiled
    assert Distribution(ROOT).is_compiled
    assert "setup.py" in Distribution(ROOT).contents


def test_this_checkout_has_its_wheels() -> None:
    assert "dependency-groups" in Distribution(ROOT).requirements
    assert "scipy-dispatch" in [each.label for each in example_distributions()]


def test_variables_that_change_what_is_tested_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    unwanted = {"PYTHONPATH", "PYTHONWARNINGS", "PYTHONDONTWRITEBYTECODE"}
    unwanted |= {"SCIPY_DISPATCH_BLOCK", "SPATCH_CORE_PURE"}
    for name in {*unwanted, "OTHER"}:
        monkeypatch.setenv(name, "x")
    kept = clean_environment()
    assert "OTHER" in kept
    assert not unwanted & set(kept)
