"""Backends by name: which of several with the same name is used."""

from __future__ import annotations

from typing import Any

from spatch_core._discovery.backends_by_name import BackendsByName
from spatch_core._discovery.environment import read_environment


def describe(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "primary_types": ["lib:Array"], "functions": {}, **fields}


def read(*in_code: dict[str, Any], **variables: str) -> BackendsByName:
    environment = read_environment("LIB", {f"LIB_{name}": each for name, each in variables.items()})
    found = BackendsByName(environment, ())
    for each in in_code:
        found.add_in_code(each)
    return found


def test_the_first_description_in_code_is_used() -> None:
    """The second of a name is reported, and not read."""
    found = read(describe("a", secondary_types=["lib:First"]), describe("a"))
    assert [str(each) for each in found.descriptions["a"].secondary_types] == ["lib:First"]
    (problem,) = found.problems
    assert problem.backend == "a"


def test_a_blocked_name_is_noted_and_not_read() -> None:
    """S13: the catalog knows its name and source."""
    found = read({"name": "a", "primary_types": 3}, describe("b"), BLOCK="a")
    assert [*found.descriptions] == ["b"]
    assert [*found.blocked] == ["a"]
    assert found.names == {"default", "a", "b"}
    assert found.problems == []


def test_a_missing_requirement_makes_a_backend_inactive() -> None:
    """D15: it stays in the catalog, with the reason."""
    found = read(describe("a", requires=["no-such-distribution"]))
    assert "no-such-distribution" in str(found.descriptions["a"].unmet)
