"""Entry points are found, even if some distribution is broken."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from spatch_core._discovery.entry_points import entry_point_target, find_entry_points
from spatch_core.testing import write_distribution
from tests.discovery.conftest import TOML, entry_point, find


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("pkg.sub:backend.toml", ("pkg.sub", "backend.toml", True)),
        ("pkg:box.backend", ("pkg", "box.backend", False)),
        ("pkg", ("pkg", "", False)),
        (" pkg : backend [extra] ", ("pkg", "backend", False)),
    ],
    ids=["file", "object", "module", "spaces-and-extras"],
)
def test_an_entry_point_leads_to_a_file_or_an_object(
    value: str, expected: tuple[str, str, bool]
) -> None:
    assert entry_point_target(entry_point("loud", value)) == expected


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

    def test_distributions_without_a_name_are_different_ones_then_too(self, site: Path) -> None:
        file = self.install(site / "later", "loud", "loud-dist")
        write_distribution(site / "earlier", "another")
        for metadata in site.glob("*/*.dist-info/METADATA"):
            metadata.unlink()

        assert find(site / "earlier", site / "later", site)["file"] == str(file)


@pytest.mark.parametrize(
    "item", [None, 7, object(), ["x"], "null\0"], ids=["None", "int", "object", "list", "null"]
)
def test_what_is_no_path_hides_no_backend(
    item: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E9: `importlib.metadata` fails with it, where imports ignore it."""
    write_distribution(
        tmp_path, "loud-dist", entry_points={"photolib.backends": {"loud": "loud:backend.toml"}}
    )
    monkeypatch.setattr(sys, "path", [item, str(tmp_path), item])

    (found,), problems = find_entry_points("photolib.backends")

    assert (found.name, problems) == ("loud", [])


@pytest.mark.parametrize("place", [0, 100])
def test_a_finder_that_fails_is_reported_and_hides_no_other(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E9: the distributions of other finders are found."""

    class Finder:
        def find_distributions(self, context: object) -> Any:
            yield from ()
            raise OSError("no disk")

    write_distribution(
        tmp_path, "loud-dist", entry_points={"photolib.backends": {"loud": "loud:backend.toml"}}
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    finders: list[Any] = list(sys.meta_path)
    finders.insert(place, Finder())
    monkeypatch.setattr(sys, "meta_path", finders)

    (found,), (problem,) = find_entry_points("photolib.backends")

    assert found.name == "loud"
    assert "Finder in sys.meta_path fails to find distributions (OSError: no disk)" in str(problem)
