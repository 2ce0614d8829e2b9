"""JSON objects that several commands print."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from spatch_core.cli.records import (
    backend_as_json,
    distribution_text,
    library_as_json,
    problem_as_json,
)
from spatch_core.examination.backends import ListedBackend, State
from spatch_core.examination.libraries import Library, LoadedLibrary
from spatch_core.types import Problem, Source
from tests.cli.test_show import BLUR, OPT_IN, WATER

if TYPE_CHECKING:
    from tests.cli.conftest import Site

METADATA = SimpleNamespace(metadata={"Name": "paint-oil", "Version": "1.0"})
SOURCE = Source("oil = m:backend.toml", "f", METADATA)
PLACE = {
    "entry_point": "oil = m:backend.toml",
    "file": "f",
    "distribution": "paint-oil",
    "version": "1.0",
}


def test_a_distribution_is_named_with_its_version() -> None:
    assert distribution_text(SOURCE) == "paint-oil 1.0"
    assert distribution_text(Source()) == ""


def test_a_problem_says_where() -> None:
    """All keys are present, even without a source."""
    found = problem_as_json(Problem("m", "r", "oil", "name", SOURCE))
    assert found == {"backend": "oil", "key": "name", "message": "m", "remedy": "r", **PLACE}
    assert problem_as_json(Problem("m", "r")).keys() == found.keys()


def test_a_library_without_a_system_has_no_group() -> None:
    assert library_as_json(LoadedLibrary(Library("lib", "m:s", SOURCE))) == {
        "name": "lib",
        "entry_point": PLACE["entry_point"],
        "distribution": "paint-oil",
        "version": "1.0",
        "group": None,
        "environ_prefix": None,
    }


def test_what_was_not_read_is_null() -> None:
    found = backend_as_json(ListedBackend("oil", State.BLOCKED, "because", SOURCE))
    assert found == {
        "name": "oil",
        "state": "blocked",
        "reason": "because",
        "primary_types": None,
        "secondary_types": None,
        "requires_opt_in": None,
        "functions": None,
        "prioritized": False,
        **PLACE,
    }


@pytest.fixture
def studio(paint: Site) -> Site:
    """A backend with every field."""
    paint.install_backend("water", WATER)
    return paint


def test_the_shape_of_the_json_is_the_documented_one(studio: Site) -> None:
    """Every key, whatever the state; scripts rely on it."""
    answer = studio.run("show", "water", "--json").json
    assert answer == {
        "library": "paintlib",
        "name": "water",
        "state": "needs opt-in",
        "reason": OPT_IN,
        "primary_types": ["~fractions:Fraction"],
        "secondary_types": ["builtins:str"],
        "requires_opt_in": True,
        "higher_priority_than": ["oil", "absent"],
        "lower_priority_than": [],
        "overridden": ["absent"],
        "auto_generation": {"backend": "paint_water:backend", "modules": ["paint_water.more"]},
        "to_default": None,
        "from_default": None,
        "copy_into": None,
        "requires": [],
        "url": "https://water.example/",
        "fallback": None,
        "order": ["default", "water", "oil"],
        "before": [
            {
                "before": "water",
                "after": "oil",
                "origin": "declared",
                "declared_by": "water",
                "reason": "water declares higher_priority_than = oil",
            }
        ],
        "after": [],
        "functions": [
            {
                "function": identifier,
                "implementation": "paint_water:blur",
                "should_run": "paint_water:is_wet",
                "uses_context": uses_context,
                "additional_docs": docs,
                "variants": [],
                "variant": None,
                "is_dispatchable": uses_context,
            }
            for identifier, uses_context, docs in (
                (BLUR, True, "Runs in\nall directions."),
                ("paintlib.filters:blurr", False, ""),
            )
        ],
        "every": [],
        "attributes": {},
        "absent": {},
        "prioritized": False,
        "entry_point": "water = paint_water:backend.toml",
        "file": str(studio.folder / "paint_water" / "backend.toml"),
        "distribution": "paint-water",
        "version": "1.0",
        "problems": [],
    }
    studio.install_backend("wax", "primary_types = 1\n")
    broken = studio.run("show", "wax", "--json").json
    assert broken.keys() == answer.keys()
    unread = set(answer) - {"library", "name", "state", "reason", "prioritized", "problems"}
    unread -= {"entry_point", "file", "distribution", "version"}
    assert all(broken[key] is None for key in unread)
    words = set(re.findall(r"\w+", studio.run("schema", "show").output))
    assert {*answer, *answer["before"][0], *answer["functions"][0], *broken["problems"][0]} <= words
