"""What uninstallations leave behind is no distribution."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import run_python, write_distribution
from tests.discovery.conftest import CORE, TOML, find

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


def requiring(requires: str, variant: str) -> tuple[object, object]:
    """Return the results of a function of a backend with a requirement, and of one variant."""
    system = BackendSystem(
        None,
        "LEFTOVERS",
        backends=[
            {
                "name": "required",
                "primary_types": ["builtins:list"],
                "requires": [requires],
                "functions": {"lib:f": {"function": "builtins:len"}},
            },
            {
                "name": "variant",
                "primary_types": ["builtins:tuple"],
                "functions": {
                    "lib:f": {"variants": [{"requires": variant, "function": "builtins:len"}]}
                },
            },
        ],
    )

    @system.dispatchable("x", module="lib", qualname="f")
    def f(x: Any) -> object:
        return "default"

    return f([1]), f((1,))


@pytest.mark.parametrize("place", ["before", "behind"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("requirement", ["loud-dist", "loud-dist>=2", "loud_dist==2.0"])
def test_a_leftover_hides_no_required_version(
    tmp_path: Path,
    kind: str,
    place: str,
    requirement: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D6: the version is that of the installed distribution."""
    pytest.importorskip("packaging")
    first, second = tmp_path / "a", tmp_path / "b"
    leave(first if place == "before" else second, kind)
    install(second if place == "before" else first)
    monkeypatch.syspath_prepend(second)
    monkeypatch.syspath_prepend(first)

    assert requiring(requirement, requirement) == (1, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_doctor_names_leftovers(tmp_path: Path, kind: str) -> None:
    """P7: a warning if it offered a backend, else a note."""
    pytest.importorskip("click")
    left = leave(tmp_path / "a", kind)
    unrelated = leave(tmp_path / "b", "empty", "other")
    install(tmp_path / "c")
    write_distribution(
        tmp_path / "c",
        "photolib",
        entry_points={"spatch_core.libraries": {"photolib": "photolib:system"}},
        files={
            "photolib.py": """
                from spatch_core import BackendSystem

                system = BackendSystem("photolib.backends", "PHOTOLIB")
                """
        },
    )
    program = """
        import sys
        from spatch_core.cli import main

        sys.argv[1:] = ["doctor", "photolib", "--json"]
        main()
        """
    path = [*(tmp_path / each for each in "abc"), CORE]

    (examined,) = json.loads(run_python(program, path=path, check=False).stdout)["libraries"]
    found = {each["file"]: each for each in examined["findings"] if each["file"]}

    severity = "note" if kind == "empty" else "warning"
    assert found[str(left)]["severity"] == severity
    assert found[str(unrelated)]["severity"] == "note"
    assert "left over from an uninstallation" in found[str(left)]["message"]
    assert "Remove" in found[str(left)]["remedy"]
