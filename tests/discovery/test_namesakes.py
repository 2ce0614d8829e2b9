"""Distributions that offer backends with one name: which is used, and the problems of others."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from spatch_core.testing import write_distribution
from tests.discovery.conftest import TOML, catalog, find

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
    """P10: the first usable backend is used, and the fault names it."""
    offer(tmp_path, a="name = 1", b=TOML)

    report = find(tmp_path)

    assert report["found"]
    assert report["distribution"] == "b-dist"
    assert len(report["problems"]) == 2
    assert all("distribution a-dist" in each for each in report["problems"])
    assert "the backend of distribution b-dist is used instead" in report["problems"][0]


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Write two distributions that offer the backend; return their entry points."""
    offer(folder, a=TOML, b=TOML)
    monkeypatch.syspath_prepend(folder)
    return [*entry_points(group=GROUP)]


def test_the_others_are_reported_with_what_chooses_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P10: the first by distribution counts, and is not the choice of the user."""
    found = catalog(*installed(tmp_path, monkeypatch))
    assert found.descriptions["loud"].source.distribution == "a-dist"
    (problem,) = found.problems
    assert problem.message == (
        "distribution a-dist offers a backend of the same name, which is used instead"
    )
    assert problem.remedy == (
        "Uninstall one of the two, or set PHOTOLIB_BLOCK=loud@b-dist to leave it out; "
        "PHOTOLIB_BLOCK=loud@a-dist or PHOTOLIB_PRIORITIZE=loud@b-dist chooses it"
    )
    assert [str(source) for source in found.shadowed["loud"]] == [str(problem.source)]


@pytest.mark.parametrize("requirement", ["absent-distribution", "x >== 2"])
@pytest.mark.parametrize("usable", ["a", "b", "c"])
def test_one_that_lacks_a_requirement_is_not_usable(
    tmp_path: Path, usable: str, requirement: str
) -> None:
    """P10, D15: it never takes the name from a working one."""
    requires = dict.fromkeys("abc", f"requires = ['{requirement}']\n") | {usable: ""}
    offer(tmp_path, **{name: text + dedent(TOML) for name, text in requires.items()})

    report = find(tmp_path)

    assert (report["found"], report["distribution"]) == (True, f"{usable}-dist")
    before = [each for each in "abc" if each < usable]
    told = [each for each in report["problems"] if "key requires" in each]
    assert len(told) == len(before)
    for name, text in zip(before, told, strict=True):
        assert f"distribution {name}-dist" in text
        assert f"the backend of distribution {usable}-dist is used instead" in text
    assert len(report["problems"]) == 2


def test_if_all_lack_requirements_the_first_is_inactive(tmp_path: Path) -> None:
    """P10, D15: it names the missing requirement, also if another backend is broken."""
    lacking = {name: f"requires = ['absent-{name}']\n{dedent(TOML)}" for name in "bd"}
    offer(tmp_path, a="name = 1", c="name = 1", **lacking)

    found = find(tmp_path)

    assert (found["found"], found["distribution"]) == (True, "b-dist")
    assert found["unmet"] == "it requires absent-b, which is not installed"
    (faulty,) = [each for each in found["problems"] if "absent-d" in each]
    assert "the backend of distribution b-dist is used instead" in faulty


@pytest.mark.parametrize(
    "variables",
    [{"PRIORITIZE": "loud@b-dist"}, {"BLOCK": "loud@a-dist"}],
    ids=["preferred", "blocked"],
)
def test_the_environment_chooses_a_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    """P10: by prioritizing one, or by blocking the other."""
    found = catalog(*installed(tmp_path, monkeypatch), **variables)
    assert found.descriptions["loud"].source.distribution == "b-dist"
    assert [*found.blocked] == ["loud@a-dist"] * ("BLOCK" in variables)
    assert len(found.problems) == ("BLOCK" not in variables)


def test_a_distribution_that_does_not_offer_the_name_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The problem lists the distributions that do."""
    found = catalog(*installed(tmp_path, monkeypatch), BLOCK="loud@c-dist")
    problem = next(each for each in found.problems if each.key)
    assert problem.key == "PHOTOLIB_BLOCK"
    assert problem.message == (
        "no distribution 'c-dist' offers a backend named 'loud'; loud@c-dist is ignored"
    )
    assert problem.remedy == "Correct it; installed are: loud@a-dist, loud@b-dist"
