"""The test kit: distributions on disk, and scripts in fresh interpreters."""

from __future__ import annotations

import os
import subprocess
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import Distribution, isolated, run_python, write_distribution
from tests.testing.conftest import GROUP


def test_the_standard_library_reads_it(distribution: Distribution) -> None:
    (found,) = distributions(path=[str(distribution.folder)])

    assert (found.metadata["Name"], found.version) == ("Loud.backend--dist", "1.2.3")
    assert [(each.group, each.name, each.value) for each in found.entry_points] == [
        (GROUP, "loud", "testing_loud:backend.toml"),
        ("spatch_core.libraries", "x", "y:z"),
    ]
    assert found.files is not None
    assert {found.locate_file(file) for file in found.files} == set(distribution.files)
    assert all(file.is_file() for file in distribution.files)


def test_it_records_what_it_wrote(distribution: Distribution) -> None:
    assert distribution.metadata.name == "loud_backend_dist-1.2.3.dist-info"
    assert distribution.metadata.parent == distribution.folder
    assert {file.relative_to(distribution.folder).as_posix() for file in distribution.files} == {
        "testing_loud/__init__.py",
        "testing_loud/backend.toml",
        "testing_loud/bytes.bin",
        "loud_backend_dist-1.2.3.dist-info/METADATA",
        "loud_backend_dist-1.2.3.dist-info/entry_points.txt",
        "loud_backend_dist-1.2.3.dist-info/RECORD",
    }


def test_text_loses_its_indentation_and_bytes_stay(distribution: Distribution) -> None:
    package = distribution.folder / "testing_loud"

    assert (package / "__init__.py").read_text() == 'def double(x):\n    return "loud"\n'
    assert (package / "bytes.bin").read_bytes() == b"\xff\x00"


def test_it_needs_neither_entry_points_nor_files(tmp_path: Path) -> None:
    write_distribution(tmp_path, "bare")

    (found,) = distributions(path=[str(tmp_path)])

    assert found.version == "0.1.0"
    assert list(found.entry_points) == []


def test_removing_it_leaves_what_is_others(distribution: Distribution) -> None:
    other = write_distribution(
        distribution.folder, "other", files={"testing_loud/other.py": "", "other/x.py": ""}
    )

    distribution.remove()

    left = {file for file in distribution.folder.rglob("*") if file.is_file()}
    assert left == set(other.files)
    other.remove()
    assert list(distribution.folder.iterdir()) == []
    other.remove()


def test_it_finds_what_is_on_the_path_before_everything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}/json.py").write_text(f"number = {number}", encoding="utf-8")
        (tmp_path / f"{number}/own{number}.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "2"))

    done = run_python("import json, own1, own2; print(json.number)", path=[str(tmp_path / "1")])

    assert done.stdout == "1\n"


def test_it_does_not_find_what_lies_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lies_here.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)

    done = run_python("import lies_here", check=False)

    assert done.returncode == 1
    assert "No module named 'lies_here'" in done.stderr


def test_variables_are_added_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTING_KEPT", "kept")
    monkeypatch.setenv("TESTING_REMOVED", "removed")

    done = run_python(
        """
        import os
        print(sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("TESTING_")))
        """,
        environment={"TESTING_ADDED": "added", "TESTING_REMOVED": None},
    )

    assert done.stdout.strip() == "['TESTING_ADDED=added', 'TESTING_KEPT=kept']"
    assert os.environ["TESTING_REMOVED"] == "removed"


def test_a_script_that_fails_shows_what_it_said() -> None:
    with pytest.raises(RuntimeError, match="ended with 3") as caught:
        run_python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")

    assert str(caught.value) == "the script ended with 3\nout\nerr"


def test_a_script_that_hangs_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run_python("import threading; threading.Event().wait()", timeout=0.1)


@pytest.mark.parametrize("path", ["folder", Path("folder")], ids=["str", "Path"])
def test_one_folder_is_refused_where_several_are_taken(system: BackendSystem, path: Any) -> None:
    """Its characters would be taken for folders."""
    message = r"path takes several folders: write path=\[.*folder.*\]"
    with pytest.raises(TypeError, match=message):
        isolated(system, path=path).__enter__()
    with pytest.raises(TypeError, match=message):
        run_python("", path=path)
