"""What the child processes write down about a library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from spatch_core.testing import run_python

if TYPE_CHECKING:
    from tests.cli.conftest import Site

CODE = """
    import sys
    from spatch_core.examination import library_tasks
    from spatch_core.examination.child import Journal

    request = {{"name": "paintlib", "identifier": {identifier!r}, "backend": "oil"}}
    library_tasks.{task}(request, Journal(sys.stdout.write, []))
    """


def written(site: Site, task: str, identifier: str = "paintlib._dispatch:system") -> Any:
    """Return the last result of each kind that a task adds."""
    done = run_python(CODE.format(task=task, identifier=identifier), path=[site.folder])
    return dict(json.loads(line) for line in done.stdout.splitlines())


def test_finding_backends_reads_none(paint: Site) -> None:
    """The result has the source of each backend."""
    (paint.folder / "paint_oil" / "backend.toml").write_text("= broken")
    found = written(paint, "find_backends")
    assert found["prefix"] == "PAINTLIB"
    assert found["backends"]["oil"]["distribution"] == "paint-oil"
    assert "finding" not in found


@pytest.mark.parametrize("identifier", ["paintlib:nothing", "paintlib:__all__"])
def test_what_is_no_system_is_a_finding(paint: Site, identifier: str) -> None:
    found = written(paint, "find_backends", identifier)
    assert found["finding"]["severity"] == "error"
    assert "backends" not in found


def test_a_backend_is_examined(paint: Site) -> None:
    found = written(paint, "examine")
    assert found["place"]["entry_point"] == "oil = paint_oil:backend.toml"
    assert found["finding"]["message"] == "'paint_oil' has no 'blur'"
    assert found["finding"]["backend"] == "oil"


def test_discovery_tells_all_states(paint: Site) -> None:
    paint.install_backend("water", "primary_types = 1\n")
    found = written(paint, "discover")
    assert {each["name"]: each["state"] for each in found["states"]} == {
        "default": "active",
        "oil": "active",
        "water": "broken",
    }
    assert found["finding"]["keys"] == ["primary_types"]
