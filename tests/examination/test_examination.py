"""The examination as a library: no click, no rich."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import spatch_core.examination
from spatch_core.examination import verify_file
from spatch_core.testing import run_python

if TYPE_CHECKING:
    from tests.cli.conftest import Site


def without_extra(folder: Path) -> Path:
    """A folder whose modules cannot be imported, in child processes either."""
    folder.mkdir()
    for name in ("click", "rich"):
        (folder / f"{name}.py").write_text("raise ImportError(f'{__name__} must not be imported')")
    return folder


def test_it_needs_no_extra(paint: Site, tmp_path: Path) -> None:
    """Libraries and files are examined without it."""
    file = paint.folder / "paint_oil" / "backend.toml"
    code = f"""
        from spatch_core.examination import examine_library, update_file, verify_file

        by_name = examine_library("paintlib")
        assert [each["name"] for each in by_name.backends] == ["default", "oil"]
        (finding,) = by_name.findings
        print(finding.severity.value, finding.backend, finding.key)

        report = verify_file({str(file)!r})
        print([(each.line, each.message) for each in report.faults])
        print([each.key for each in update_file({str(file)!r}, check=True).findings])
        """
    found = run_python(code, path=[without_extra(tmp_path / "blocked"), paint.folder])
    assert found.stdout.splitlines() == [
        'error oil functions."paintlib.filters:blur".function',
        """[(6, "'paint_oil' has no 'blur'")]""",
        "['functions.auto-generation']",
    ]


def test_what_cannot_be_read_has_no_line(tmp_path: Path) -> None:
    """The finding is about the whole file."""
    (fault,) = verify_file(tmp_path / "absent.toml").findings
    assert (fault.line, fault.key) == (None, None)
    assert fault.place == str(tmp_path / "absent.toml")
    assert str(fault).startswith(f"{fault.place}: it cannot be read: ")


def test_names_are_listed_and_unknown_ones_are_errors() -> None:
    """It holds although all names are imported lazily."""
    names = spatch_core.examination.__all__
    assert set(names) <= set(dir(spatch_core.examination))
    assert all(getattr(spatch_core.examination, name).__name__ == name for name in names)
    assert not hasattr(spatch_core.examination, "Fault")
