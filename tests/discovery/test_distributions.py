"""Distributions: what uninstallations leave behind, and several that offer one name."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from spatch_core.testing import run_python, write_distribution
from tests.discovery.conftest import CORE, TOML, find

GROUP = "photolib.backends"


def offer(folder: Path, **contents: str) -> None:
    """Write a distribution for each content of a description."""
    for name, content in contents.items():
        write_distribution(
            folder,
            f"{name}-dist",
            entry_points={GROUP: {"loud": f"loud_{name}:backend.toml"}},
            files={f"loud_{name}/backend.toml": content},
        )


def test_a_first_that_is_broken_is_replaced_by_the_second(tmp_path: Path) -> None:
    """P7: the first usable backend is used; what is wrong with the other is reported."""
    offer(tmp_path, a="name = 1", b=TOML)

    report = find(tmp_path)

    assert report["found"]
    assert report["distribution"] == "b-dist"
    *faults, shared = report["problems"]
    assert [each for each in faults if "is skipped (distribution a-dist" not in each] == []
    assert faults
    assert "the backend of b-dist is used" in shared


def test_one_problem_names_all_with_their_folders(tmp_path: Path) -> None:
    """P7: the first by distribution name counts, wherever it is on the path."""
    first, second = tmp_path / "first", tmp_path / "second"
    offer(first, b=TOML)
    offer(second, a=TOML, c="not read")

    report = find(first, second)

    assert report["distribution"] == "a-dist"
    (problem,) = report["problems"]
    for offered in (f"a-dist in {second}", f"b-dist in {first}", f"c-dist in {second}"):
        assert offered in problem
    assert "the backend of a-dist is used" in problem
    assert "skipped" not in problem


def test_if_all_lack_requirements_the_first_is_inactive(tmp_path: Path) -> None:
    """P7, D6: it names the missing requirement, also if another backend is broken."""
    lacking = {name: f"requires = ['absent-{name}']\n{dedent(TOML)}" for name in "bd"}
    offer(tmp_path, a="name = 1", c="name = 1", **lacking)

    found = find(tmp_path)

    assert (found["found"], found["distribution"]) == (True, "b-dist")
    assert found["unmet"] == "it requires absent-b, which is not installed"
    shared = found["problems"][-1]
    assert "d-dist" in shared
    assert "the backend of b-dist is used" in shared


def test_all_of_a_blocked_name_are_blocked(tmp_path: Path) -> None:
    """P7, S8: none of them is read."""
    offer(tmp_path, a="name = 1", b=TOML)

    found = find(tmp_path, before="import os; os.environ['PHOTOLIB_BLOCK'] = 'loud'")

    assert (found["found"], found["problems"]) == (False, [])


def test_one_in_code_goes_first_even_if_it_is_inactive(tmp_path: Path) -> None:
    """P7: the installed one is not read."""
    offer(tmp_path, a="name = 1")
    own = {"name": "loud", "primary_types": ["builtins:str"], "requires": ["absent-x"]}
    program = f"""
        from spatch_core import BackendSystem

        system = BackendSystem({GROUP!r}, "PHOTOLIB", backends=[{own!r}])
        print(system.backends["loud"].unmet)
        print(*[each.message for each in system.problems])
        """

    done = run_python(program, path=[tmp_path, CORE], options=["-W", "ignore"])

    unmet, offered = done.stdout.splitlines()
    assert unmet == "it requires absent-x, which is not installed"
    assert f"a description in the library's code and by a-dist in {tmp_path};" in offered
    assert "the backend of the library itself is used" in offered


LEFT = "gone.toml"
KINDS = ("empty", "entry-points", "renamed")
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
    return left.rename(left.with_name(f"~{left.name[1:]}"))


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
