"""What uninstallations leave behind is no distribution."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatch_core.testing import write_distribution
from tests.discovery.conftest import TOML, find

LEFT = "gone.toml"
KINDS = ("empty", "entry-points", "renamed", "renamed-egg")
"""Folders without METADATA, or with a name that pip gives to what it is about to remove."""


def leave(folder: Path, kind: str, distribution: str = "loud-dist") -> Path:
    """Leave a folder of metadata behind, older than the installed one; return it."""
    left = write_distribution(
        folder,
        distribution,
        version="0.0.1",
        entry_points={
            "photolib.backends": {"loud": f"loud:{LEFT}"},
            "spatch_core.libraries": {"photolib": f"nowhere:{LEFT}"},
        },
    ).metadata
    if kind == "empty":
        (left / "entry_points.txt").unlink()
    if kind in ("empty", "entry-points"):
        (left / "METADATA").unlink()
        return left
    name = f"~{left.name[1:]}"
    if kind == "renamed-egg":
        name = name.replace(".dist-info", ".egg-info")
        (left / "METADATA").rename(left / "PKG-INFO")
    return left.rename(left.with_name(name))


def install(folder: Path, name: str = "loud-dist", version: str = "2.0") -> Path:
    write_distribution(
        folder,
        name,
        version=version,
        entry_points={"photolib.backends": {"loud": "loud:backend.toml"}},
        files={"loud/__init__.py": "", "loud/backend.toml": TOML},
    )
    return folder / "loud" / "backend.toml"


@pytest.mark.parametrize("place", ["before", "beside"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_leftover_hides_no_backend(tmp_path: Path, kind: str, place: str) -> None:
    """D1: in whatever order the folders are searched."""
    before, site = (tmp_path / each for each in ("a", "b"))
    file = install(site)
    leave({"before": before, "beside": site}[place], kind)

    report = find(before, site)

    assert report["file"] == str(file)
    assert report["distribution"] == "loud-dist"
    assert report["problems"] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_leftover_alone_is_not_installed(tmp_path: Path, kind: str) -> None:
    """D1: its entry points name files that may be gone."""
    leave(tmp_path, kind)

    report = find(tmp_path)

    assert (report["found"], report["problems"]) == (False, [])
