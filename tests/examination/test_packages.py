"""Which distributions packages come from, on every Python alike."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spatch_core.examination.packages import owners_of_packages
from spatch_core.testing import write_distribution


@pytest.mark.parametrize("version", [(3, 10), sys.version_info[:2]])
def test_packages_and_modules_are_found_by_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int]
) -> None:
    """It works without ``top_level.txt``, which few build tools write."""
    files = {"painters/__init__.py": "", "painters/oil.py": "", "easel.py": ""}
    write_distribution(tmp_path, "Paint-Box", files=files)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "version_info", version)

    owners = owners_of_packages()

    assert owners["painters"] == owners["easel"] == ["Paint-Box"]
    assert "Paint-Box" not in owners.get("oil", [])
    assert owners["click"] == ["click"]
