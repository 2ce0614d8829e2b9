"""Requirements of backends, decided from the metadata of distributions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem, NoImplementationError, UnknownBackendError
from spatch_core._discovery.requirements import RequirementError, installed_version, why_unmet
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


@pytest.mark.parametrize(
    ("requirement", "reason"),
    [
        ("gpu-arrays", ""),
        ("GPU_arrays", ""),
        ("gpu-arrays>=1.9", ""),
        ("gpu-arrays>=2.0", "it requires gpu-arrays>=2.0, and gpu-arrays 2.0rc1 is installed"),
        ("absent", "it requires absent, which is not installed"),
        ("absent>=1", "it requires absent>=1, which is not installed"),
        ("absent>=1; python_version < '3'", ""),
    ],
)
def test_a_requirement_is_met_or_says_why_not(site: Path, requirement: str, reason: str) -> None:
    """D15: by version and marker; pre-releases count."""
    pytest.importorskip("packaging")
    assert why_unmet(["gpu-arrays", requirement]) == reason


def test_a_plain_name_needs_no_other_package(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D15, F13: anything else is a problem without it."""
    monkeypatch.setitem(sys.modules, "packaging.requirements", None)
    assert why_unmet(["gpu-arrays"]) == ""
    with pytest.raises(RequirementError, match="distribution packaging is installed"):
        why_unmet(["gpu-arrays>=1"])


def test_a_malformed_requirement_is_no_requirement() -> None:
    pytest.importorskip("packaging")
    with pytest.raises(RequirementError, match="is not a requirement"):
        why_unmet(["a b c"])


def test_a_marker_may_be_a_condition(site: Path) -> None:
    """D17: of a variant, which is not for every place."""
    pytest.importorskip("packaging")
    elsewhere = "gpu-arrays; python_version < '3'"
    assert why_unmet([elsewhere]) == ""
    assert why_unmet([elsewhere], is_condition=True) == (
        'it is for python_version < "3", which does not hold here'
    )
    assert why_unmet(["gpu-arrays; python_version > '3'"], is_condition=True) == ""


METADATA = "Metadata-Version: 2.1\nName: odd\nVersion: {}\n"


@pytest.mark.parametrize(
    ("metadata", "version"),
    [
        (METADATA.format("unknown").encode(), "unknown"),
        (METADATA.format("1.0-custom-build").encode(), "1.0-custom-build"),
        (METADATA.format("2.\xff").encode("latin-1"), "0"),
        (b"Metadata-Version: 2.1\nName: odd\n", "0"),
        (b"", "0"),
    ],
    ids=["no version", "own scheme", "no text", "no field", "empty"],
)
def test_odd_metadata_of_others_breaks_nothing(
    site: Path, metadata: bytes, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D15, D17: whichever release of packaging compares; a library's calls work."""
    pytest.importorskip("packaging")
    odd = write_distribution(site, "odd")
    (odd.metadata / "METADATA").write_bytes(metadata)
    assert installed_version("odd") == version
    assert why_unmet(["odd"]) == ""
    reason = f"it requires odd>=1.2, and odd {version} is installed"
    assert why_unmet(["odd>=1.2"]) == reason
    _, f = make("odd>=1.2")
    assert f(Foreign()) == "default"

    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    def refuse(*_: Any, **__: Any) -> bool:
        raise InvalidSpecifier("as older releases do for what is no version")

    monkeypatch.setattr(SpecifierSet, "contains", refuse)
    assert why_unmet(["odd>=1.2"]) == reason
    assert why_unmet(["odd[extra]"]) == ""


def test_a_distribution_that_is_absent_has_no_version(site: Path) -> None:
    assert installed_version("gpu.arrays") == "2.0rc1"
    assert installed_version("absent") is None


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
    """D15: the reason is known, and calls cost as much as without the backend."""
    system, f = make("gpu-arrays")
    assert f(Foreign()) == "gpu"
    system, f = make("gpu-arrays", "absent")
    assert f(Foreign()) == "default"
    assert "gpu      inactive: it requires absent, which is not installed" in str(
        f.explain(Foreign())
    )
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
    """D15: and the backend is inactive."""
    monkeypatch.setitem(sys.modules, "packaging.requirements", None)
    system, f = make("gpu-arrays>=1")
    with pytest.warns(Warning, match="because of a requirement"):
        assert f(Foreign()) == "default"
    (problem,) = system.problems
    assert (problem.backend, problem.key) == ("gpu", "requires")


def test_each_requirement_that_cannot_be_read_is_a_problem(site: Path) -> None:
    """D15: at any position; the first unmet requirement is the reason."""
    system, f = make("absent", "gpu-arrays !", "gpu-arrays", "more !")
    with pytest.warns(Warning, match="'gpu-arrays !' is not a requirement") as caught:
        assert f(Foreign()) == "default"
    assert len(caught) == 1
    assert [each.key for each in system.problems] == ["requires", "requires"]
    assert "'more !' is not a requirement" in str(system.problems[1])
    assert "inactive: it requires absent, which is not installed" in str(f.explain(Foreign()))


def test_a_requirement_begins_with_a_name() -> None:
    """D7: else it is a fault."""
    system, _ = make(">=1")
    with pytest.warns(Warning, match="is not a requirement"):
        assert "gpu" not in system.backends
