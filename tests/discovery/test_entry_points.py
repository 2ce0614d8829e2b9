"""Entry points are found, even if some distribution is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatch_core.testing import write_distribution
from tests.discovery.conftest import TOML, find


class TestMalformedEntryPoints:
    """One malformed distribution must not hide the others."""

    @pytest.fixture
    def site(self, tmp_path: Path) -> Path:
        malformed = write_distribution(tmp_path, "malformed-dist")
        (malformed.metadata / "entry_points.txt").write_text("[x]\nno value\n", encoding="utf-8")
        return tmp_path

    def install(self, folder: Path, package: str, distribution: str) -> Path:
        write_distribution(
            folder,
            distribution,
            entry_points={"photolib.backends": {"loud": f"{package}:backend.toml"}},
            files={f"{package}/backend.toml": TOML},
        )
        return folder / package / "backend.toml"

    def test_the_first_folder_on_the_path_wins_then_too(self, site: Path) -> None:
        file = self.install(site / "newer", "loud", "loud-dist")
        self.install(site / "older", "loud", "Loud_Dist")

        report = find(site / "newer", site / "older", site)

        assert report["file"] == str(file)
        (problem,) = report["problems"]
        assert "malformed-dist" in problem
        assert "entry_points.txt cannot be read" in problem
