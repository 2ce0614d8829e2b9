"""The examination as a library: no click, no rich, no tomlkit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
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
    for name in ("click", "rich", "tomlkit"):
        (folder / f"{name}.py").write_text("raise ImportError(f'{__name__} must not be imported')")
    return folder


def test_it_needs_no_extra(paint: Site, tmp_path: Path) -> None:
    """Libraries and files are examined without it; only writing needs tomlkit."""
    file = paint.folder / "paint_oil" / "backend.toml"
    code = f"""
        from spatch_core.examination import examine_library, update_file, verify_file

        by_name = examine_library("paintlib")
        assert [each["name"] for each in by_name.backends] == ["default", "oil"]
        (finding,) = by_name.findings
        print(finding.severity.value, finding.backend, finding.key)

        from paintlib._dispatch import system
        by_system = examine_library(system)
        assert by_system.library == by_name.library
        assert list(map(str, by_system.findings)) == list(map(str, by_name.findings))

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


def test_a_system_need_not_be_registered(paint: Site) -> None:
    """It must be an attribute of a module that a child process can import."""
    (paint.folder / "easel.py").write_text(
        "from spatch_core import BackendSystem\nsystem = BackendSystem('paintlib.backends', 'E')\n"
    )
    code = """
        import easel
        from spatch_core import BackendSystem
        from spatch_core.examination import examine_library

        report = examine_library(easel.system)
        print(report.library.identifier, [each["name"] for each in report.backends])
        try:
            examine_library(BackendSystem(None, "F"))
        except LookupError as error:
            print(error)
        """
    found = run_python(code, path=[paint.folder])
    assert found.stdout.splitlines() == [
        "easel:system ['default', 'oil']",
        "no imported module has this system as an attribute",
    ]


def reachable(value: object) -> Iterator[object]:
    """Yield a value and everything that can be reached through its fields and properties."""
    yield value
    if is_dataclass(value):
        names = {each.name for each in fields(value)}
        names |= {
            name for name in dir(type(value)) if isinstance(getattr(type(value), name), property)
        }
        for name in sorted(names):
            yield from reachable(getattr(value, name))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from reachable(each)
    elif isinstance(value, dict):
        yield from reachable([*value.values()])


def test_one_loop_serves_both_reports(paint: Site) -> None:
    """They have the same fields, and all values are plain or public."""
    file = str(paint.folder / "paint_oil" / "backend.toml")
    code = f"""
        from spatch_core import examination
        from spatch_core.examination import Report, examine_library, verify_file
        from {__name__} import reachable

        for report in (examine_library("paintlib"), verify_file({file!r}), verify_file("absent")):
            assert isinstance(report, Report)
            print(report.subject, report.ok, len(report.findings), len(report.faults))
            assert report.notes == report.unchecked == []
            for each in reachable(report):
                if type(each).__module__.startswith("spatch_core"):
                    assert getattr(examination, type(each).__name__) is type(each)
        """
    found = run_python(code, path=[paint.folder, Path(__file__).parents[2]])
    assert found.stdout.splitlines() == [
        "paintlib False 1 1",
        f"{file} False 1 1",
        "absent False 1 1",
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
