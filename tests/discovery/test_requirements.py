"""Requirements of backends, decided from the metadata of distributions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem, NoImplementationError, UnknownBackendError
from spatch_core.testing import write_distribution

HERE = __name__


class Foreign:
    """The backend's type."""


def implementation(x: Any) -> str:
    return "gpu"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_distribution(tmp_path, "Gpu-Arrays", version="2.0rc1")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def make(*requires: str, **fields: Any) -> Any:
    backend = {
        "name": "gpu",
        "primary_types": [f"{HERE}:Foreign"],
        "requires": list(requires),
        "functions": {"lib:f": {"function": implementation}},
        **fields,
    }
    system = BackendSystem(None, "REQUIRELIB", backends=[backend])
    return system, system.dispatchable("x", identifier="lib:f")(lambda x: "default")


def test_a_backend_without_its_distributions_is_inactive(site: Path) -> None:
    """D6: the reason is known, and calls cost as much as without the backend."""
    system, f = make("gpu-arrays")
    assert f(Foreign()) == "gpu"
    system, f = make("gpu-arrays", "absent")
    assert f(Foreign()) == "default"
    assert "inactive: it requires absent" in str(f.explain(Foreign()))
    assert list(f.backends) == ["default"]
    assert system.backend_opts().backends == ("default",)
    assert system.problems == ()
    with pytest.raises(UnknownBackendError, match="cannot be used: it requires absent"):
        system.backend_opts(prioritize="gpu")
    with system.backend_opts(disable="gpu"):
        assert f(Foreign()) == "default"
    with (
        system.backend_opts(fallback="raise"),
        pytest.raises(NoImplementationError, match="absent"),
    ):
        f(Foreign())


def test_a_requirement_that_cannot_be_read_is_a_problem(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D6: and the backend is inactive."""
    monkeypatch.setitem(sys.modules, "packaging.requirements", None)
    system, f = make("gpu-arrays>=1")
    with pytest.warns(Warning, match="gpu"):
        assert f(Foreign()) == "default"
    (problem,) = system.problems
    assert (problem.backend, problem.key) == ("gpu", "requires")


def test_each_requirement_that_cannot_be_read_is_a_problem(site: Path) -> None:
    """D6: at any position; the first unmet requirement is the reason."""
    system, f = make("absent", "gpu-arrays !", "gpu-arrays", "more !")
    with pytest.warns(Warning, match="gpu-arrays !") as caught:
        assert f(Foreign()) == "default"
    assert len(caught) == 1
    assert [each.key for each in system.problems] == ["requires", "requires"]
    assert "'more !'" in str(system.problems[1])
    assert "inactive: it requires absent" in str(f.explain(Foreign()))


def test_a_requirement_begins_with_a_name() -> None:
    """D3: else it is a fault."""
    system, _ = make(">=1")
    with pytest.warns(Warning, match=">=1"):
        assert "gpu" not in system.backends
