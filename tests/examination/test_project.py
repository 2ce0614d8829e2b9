"""The project around a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatch_core.examination.findings import Severity
from spatch_core.examination.project import (
    check_entry_points,
    entry_point_names,
    find_requirements,
    package_folder,
)
from spatch_core.testing import write_distribution

PROJECT = """
    [project]
    name = "paint-oil"
    dependencies = ["paint-lib>=2"]
    [project.optional-dependencies]
    gpu = ["cupy-cuda12x"]
    [project.entry-points."paintlib.backends"]
    oil = "paint_oil.sub : backend.toml"
    other = "paint_oil:backend.toml"
    """


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    folder = tmp_path / "src" / "paint_oil" / "sub"
    folder.mkdir(parents=True)
    return folder / "backend.toml"


def test_requirements_know_their_extras(file: Path) -> None:
    requirements = find_requirements(str(file))
    assert requirements.remedy("cupy_cuda12x") == (
        "Install it, as 'pip install paint-oil[gpu]' does"
    )
    assert "paint_lib" in requirements


def test_the_entry_points_of_a_file_are_known(file: Path) -> None:
    """Those of another file with the same name do not count."""
    assert entry_point_names(file) == ["oil"]


@pytest.mark.parametrize("text", ["", "project = 1", "[project]\nentry-points = 1", "=", None])
def test_a_project_that_says_nothing(tmp_path: Path, text: str | None) -> None:
    """The file may also be missing, or not be valid TOML."""
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text)
    file = tmp_path / "backend.toml"
    assert entry_point_names(file) == []
    assert "anything" not in find_requirements(str(file))


def test_a_file_that_no_entry_point_leads_to(file: Path, tmp_path: Path) -> None:
    """It is a warning if the project has entry points, else a note."""
    assert check_entry_points(file, None) is None
    other = file.with_name("other.toml")
    found = check_entry_points(other, str(tmp_path / "src"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.remedy.endswith(': name = "paint_oil.sub:other.toml"')
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\nname = "paint-oil"\n')
    found = check_entry_points(file, None)
    assert found is not None
    assert found.severity is Severity.NOTE
    for text in ("", '[project]\nname = "a"\ndynamic = ["entry-points"]\n'):
        project.write_text(text)
        assert check_entry_points(file, None) is None


def test_an_entry_point_of_what_is_installed_counts(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its project may declare it in another file."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "paint-oil"\n')
    points = {"paintlib.backends": {"oil": "paint_oil.sub:backend.toml [fast]"}}
    write_distribution(tmp_path / "site", "paint-oil", entry_points=points)
    assert check_entry_points(file, None) is not None
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert check_entry_points(file, None) is None


def test_the_folder_to_import_from(file: Path, tmp_path: Path) -> None:
    """It is above the top-level package, or contains a module beside the file."""
    assert package_folder(file, {"paint_oil"}) == str(tmp_path / "src")
    assert package_folder(file, {"other"}) is None
    (file.parent / "other.py").touch()
    assert package_folder(file, {"other"}) == str(file.parent)
