"""What `write_distribution` writes is a distribution to everything that reads one."""

from __future__ import annotations

from importlib.metadata import distributions
from pathlib import Path

from spatch_core.testing import Distribution, write_distribution
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
