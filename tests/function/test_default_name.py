"""The library's own implementations under another name."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from spatch_core import BackendSkippedWarning, BackendSystem
from tests.function.conftest import Foreign, describe


def make(*backends: Any, **options: Any) -> Any:
    options = {"default_name": "networkx", **options}
    system = BackendSystem(None, "MYLIB", backends=backends or [describe()], **options)
    return system, system.dispatchable("x", identifier="lib:f")(lambda x: "default")


def test_people_see_it() -> None:
    """F11: in explanations and traces; data stays as it is."""
    system, f = make()
    explanation = f.explain(3)
    assert "> networkx runs" in " ".join(str(explanation).split())
    assert "default" not in str(explanation)
    assert explanation.selected == "default"
    assert [each.backend for each in explanation.backends] == ["first", "default"]
    assert str(explanation.backends[1]).startswith("networkx runs")
    assert str(pickle.loads(pickle.dumps(explanation))) == str(explanation)
    with system.backend_opts(trace=True) as trace:
        f(3)
        f(Foreign())
    assert str(trace).splitlines() == [
        "lib:f -> networkx called: no backend takes the call",
        "lib:f -> first called",
    ]
    assert trace[0].backend == "default"
    assert list(system.backends) == list(f.backends) == ["default", "first"]


def test_people_may_write_it() -> None:
    """F11: as well as `default`."""
    system, f = make()
    assert f.invoke(backend="networkx")(Foreign()) == "default"
    assert f.invoke(backend="default")(Foreign()) == "default"
    with system.backend_opts(prioritize="networkx") as options:
        assert options.prioritized == ("default",)
    with pytest.raises(ValueError, match="installed: networkx, first"):
        system.backend_opts(prioritize="xyz")
    assert system.backend_opts(disable="networkx").disabled == ("default",)
    with pytest.raises(ValueError, match="did you mean 'networkx'"):
        system.backend_opts(prioritize="networx")


def test_in_descriptions_it_stays_default() -> None:
    """F11: backends do not know how the library is shown."""
    system, _ = make(describe(higher_priority_than=["default"]))
    assert list(system.backends) == ["first", "default"]
    system, _ = make(describe(higher_priority_than=["networkx"]))
    assert list(system.backends) == ["default", "first"]


def test_no_backend_may_have_it() -> None:
    """F11: what is shown means one thing."""
    with pytest.warns(BackendSkippedWarning, match="'networkx' is the library's own name"):
        found = make(describe("networkx"), describe("first", functions=[]))[0].backends
    assert list(found) == ["default", "first"]


@pytest.mark.parametrize("name", ["", "net workx", 3], ids=repr)
def test_it_can_name_a_backend(name: Any) -> None:
    """F11: else it could not be written where names are."""
    with pytest.raises((ValueError, TypeError), match="default_name"):
        make(default_name=name)
