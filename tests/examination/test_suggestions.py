"""Names of a description that resemble others."""

from __future__ import annotations

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


SHORT = """
from ._dispatch import system


@system.dispatchable("x")
def fn(x):
    return x
"""


def test_a_misspelled_function_has_the_nearest_name(studio: Site) -> None:
    """Also if the name is so short that one letter makes it dissimilar; it is an error."""
    studio.install_library({"paintlib/filters.py": SHORT})
    studio.install_backend(
        "oil",
        'primary_types = ["fractions:Fraction"]\n'
        '[functions."paintlib.filters:fm"]\nfunction = "paint_oil:f"\n',
        "def f(x):\n    return x\n",
    )
    (found,) = findings(studio, "oil").values()
    assert found == "error: Did you mean 'paintlib.filters:fn'?"
