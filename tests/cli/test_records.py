"""JSON objects that several commands print."""

from __future__ import annotations

from types import SimpleNamespace

from spatch_core._reporting.problems import Problem, Source
from spatch_core.cli.records import (
    backend_as_json,
    distribution_text,
    library_as_json,
    problem_as_json,
)
from spatch_core.examination.backends import ListedBackend, State
from spatch_core.examination.libraries import Library, LoadedLibrary

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
    """All keys are there, also for a problem from nowhere."""
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
