"""Reading a backend's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatch_core.examination.backend_file import read_file


def write(folder: Path, content: bytes) -> str:
    file = folder / "backend.toml"
    file.write_bytes(content)
    return str(file)


def test_a_sound_file_has_a_description(tmp_path: Path) -> None:
    text = b'name = "oil"\nprimary_types = ["m:T"]\nfunctions."l:f".function = "paint:f"\n'
    file = read_file(write(tmp_path, text))
    assert file.faults == []
    assert file.description is not None
    assert (file.description.name, file.packages()) == ("oil", {"paint"})
    assert file.folder() is None
    (tmp_path / "paint.py").touch()
    assert file.folder() == str(tmp_path.resolve())
    assert file.importer().own >= {"paint"}


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        (b"\xff", [(None, None)]),
        (b"name = 1\n=\n", [(2, None)]),
        (b'\xef\xbb\xbfname = "oil"\n', [(1, None)]),
        (b'name = "oil"\n', [(1, "primary_types")]),
        (b'\nname = "o i l"\nprimary_types = [1]\n', [(2, "name"), (3, "primary_types[0]")]),
    ],
    ids=["encoding", "syntax", "byte order mark", "missing", "wrong"],
)
def test_faults_have_lines(
    tmp_path: Path, content: bytes, faults: list[tuple[int, str | None]]
) -> None:
    file = read_file(write(tmp_path, content))
    assert [(each.line, each.key) for each in file.faults] == faults


def test_a_file_must_have_the_name_of_its_entry_point(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "p"\n[project.entry-points.g]\noil = "pkg:backend.toml"\n'
    )
    folder = tmp_path / "pkg"
    folder.mkdir()
    file = read_file(write(folder, b'name = "gold"\nprimary_types = ["m:T"]\n'))
    assert [each.key for each in file.faults] == ["name"]


def test_a_fault_says_its_place_in_the_file(tmp_path: Path) -> None:
    """It has the file, its line and the key; without a key, only the file."""
    path = write(tmp_path, b'\nname = "o i l"\nprimary_types = ["m:T"]\n')
    (fault,) = read_file(path).faults
    assert str(fault) == f"{path}:2, key name: {fault.message}. {fault.remedy}"
    path = write(tmp_path, b"name = 1\n=\n")
    (fault,) = read_file(path).faults
    assert str(fault) == f"{path}:2: {fault.message}. {fault.remedy}"


def test_what_cannot_be_read_has_a_remedy_of_its_own(tmp_path: Path) -> None:
    """A missing file and a wrong encoding have different remedies."""
    (encoding,) = read_file(write(tmp_path, b"\xff")).faults
    assert encoding.remedy == "Write a text file in UTF-8"
    (absent,) = read_file(str(tmp_path / "absent.toml")).faults
    assert absent.message.startswith("it cannot be read: ")
    assert absent.remedy == "Name an existing file, and check its permissions"


def test_its_repr_is_short(tmp_path: Path) -> None:
    """The content of the file is left out."""
    file = read_file(write(tmp_path, b'name = "oil"\nprimary_types = ["secret:T"]\n# a comment\n'))
    assert "a comment" not in repr(file)
    assert "lines=" not in repr(file)
    assert "fields=" not in repr(file)
