"""Which files there are in the stubs of a library, and which are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spatch_core.examination.stubs import HEADER, ForeignFileError, write_stubs

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {"lib/__init__.pyi": f"{HEADER}\n", "lib/b.pyi": f"{HEADER}\nb: int\n"}


def test_own_files_are_overwritten(tmp_path: Path) -> None:
    write_stubs({"lib/__init__.pyi": f"{HEADER}\nold\n"}, tmp_path)
    write_stubs(TEXTS, tmp_path)
    assert (tmp_path / "lib" / "__init__.pyi").read_text() == TEXTS["lib/__init__.pyi"]
    assert (tmp_path / "lib" / "b.pyi").read_text() == TEXTS["lib/b.pyi"]


def test_the_file_of_anybody_else_is_kept_and_nothing_written(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "b.pyi").write_text("mine: int\n")
    with pytest.raises(ForeignFileError, match=r"b\.pyi exists.*nothing was written"):
        write_stubs(TEXTS, tmp_path)
    assert [each.name for each in (tmp_path / "lib").iterdir()] == ["b.pyi"]


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "inside" / "lib").symlink_to(tmp_path / "outside")
    with pytest.raises(ForeignFileError, match="lies outside"):
        write_stubs(TEXTS, tmp_path / "inside")
    assert list((tmp_path / "outside").iterdir()) == []
