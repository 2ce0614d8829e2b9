"""Declared priorities that name no backend: which of those are misspelled."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.cli.conftest import Site


def findings(site: Site, backend: str) -> dict[str, str]:
    """Return the findings of doctor about the keys of a backend."""
    answer = site.run("doctor", "paintlib", "--json")
    (library,) = answer.json["libraries"]
    found: list[dict[str, Any]] = [
        each for each in library["findings"] if each["backend"] == backend
    ]
    return {each["keys"][0]: f"{each['severity']}: {each['remedy']}" for each in found}


@pytest.fixture
def studio(site: Site) -> Site:
    """A library with backends that have common names."""
    site.install_library()
    for name in ("oil12", "crayons", "chalk-red", "tempera2"):
        site.install_backend(name, 'primary_types = ["fractions:Fraction"]\n')
    return site


def test_siblings_that_are_not_installed_are_no_fault(studio: Site) -> None:
    """Names of backends resemble each other, and a backend is never suggested to itself."""
    others = ["oil-cpu", "crayon-red", "chalk-blue", "chalk-rad", "tempera", "oil2"]
    studio.install_backend(
        "oil",
        f'primary_types = ["fractions:Fraction"]\nhigher_priority_than = {others}\n'
        'lower_priority_than = ["oil11", "oils"]\n',
    )
    assert findings(studio, "oil") == {}
    answer = studio.run("doctor", "paintlib")
    assert answer.code == 0, answer.output


SLIPS = {
    "crayosn": "crayons",
    "crayns": "crayons",
    "crayonss": "crayons",
    "Crayons": "crayons",
    "chalk_red": "chalk-red",
    "tempra2": "tempera2",
    "defalt": "default",
    "defaults": "default",
    "Default": "default",
}


def test_a_slip_is_a_warning(studio: Site) -> None:
    """Letters are swapped, missing or added; case and punctuation differ."""
    studio.install_backend(
        "oil",
        f'primary_types = ["fractions:Fraction"]\nlower_priority_than = {list(SLIPS)}\n',
    )
    assert findings(studio, "oil") == {
        f"lower_priority_than[{number}]": f"warning: Did you mean {meant!r}?"
        for number, meant in enumerate(SLIPS.values())
    }


@pytest.mark.parametrize("options", [[], ["--no-imports"]], ids=["imports", "no imports"])
def test_verify_knows_the_librarys_own_name(site: Site, tmp_path: Path, options: list[str]) -> None:
    """Without a library, it knows no other names."""
    file = tmp_path / "backend.toml"
    file.write_text(
        dedent(
            """
            name = "oil"
            primary_types = ["fractions:Fraction"]
            higher_priority_than = ["default2", "defile", "oils"]
            lower_priority_than = [
                "gold",
                "defalt",
            ]
            """
        )
    )
    answer = site.run("verify", str(file), "--json", *options)
    assert answer.json["files"][0]["faults"] == [
        {
            "severity": "error",
            "line": 7,
            "key": "lower_priority_than[1]",
            "message": "'defalt' looks like a misspelling of 'default'",
            "remedy": "Did you mean 'default'?",
        }
    ]
    assert answer.code == 1


def test_verify_survives_what_is_no_list(site: Site, tmp_path: Path) -> None:
    """The validator reports it."""
    file = tmp_path / "backend.toml"
    file.write_text(
        'name = "oil"\nprimary_types = ["fractions:Fraction"]\n'
        'lower_priority_than = 1\nhigher_priority_than = [2, "defalt"]\n'
    )
    (report,) = site.run("verify", str(file), "--json").json["files"]
    assert [each["key"] for each in report["faults"]] == [
        "lower_priority_than",
        "higher_priority_than[0]",
        "higher_priority_than[1]",
    ]
