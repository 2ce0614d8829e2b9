"""Requirements of backends and of variants, decided from the metadata of distributions: rule D6."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import BackendSystem, NoImplementationError, UnknownBackendError
from spatch_core.testing import write_distribution
from spatch_core.types import Variant

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
    assert (problem.backend, problem.key, problem.remedy) == (
        "gpu",
        "requires",
        "Install packaging",
    )


def test_each_requirement_that_cannot_be_read_is_a_problem(site: Path) -> None:
    """D6: at any position; the first unmet requirement is the reason."""
    system, f = make("absent", "gpu-arrays !", "gpu-arrays", "more !")
    with pytest.warns(Warning, match="gpu-arrays !") as caught:
        assert f(Foreign()) == "default"
    assert len(caught) == 1
    assert [each.key for each in system.problems] == ["requires", "requires"]
    assert "'more !'" in str(system.problems[1])
    assert system.problems[1].remedy.startswith("Correct the requirement")
    assert "inactive: it requires absent" in str(f.explain(Foreign()))


def test_a_requirement_begins_with_a_name() -> None:
    """D3: else it is a fault."""
    system, _ = make(">=1")
    with pytest.warns(Warning, match=">=1"):
        assert "gpu" not in system.backends


FOLDER = Path(spatch_core.__file__).parents[1]
PACKAGING = "packaging"
ONLY = "nothing-of-this-name"


def every(context: Any, x: Any) -> str:
    return "every"


def library(**functions: Any) -> tuple[BackendSystem, dict[str, Any]]:
    """Return a library with one backend for lists, and its functions."""
    system = BackendSystem(
        None,
        "VARIANTS",
        backends=[
            {
                "name": "b",
                "primary_types": ["builtins:list"],
                "functions": {
                    name if name == "*" else f"lib:{name}": entry
                    for name, entry in functions.items()
                },
            }
        ],
    )
    made = {}
    for name in functions.keys() - {"*"}:

        @system.dispatchable("x", module="lib", qualname=name)
        def default(x: Any) -> str:
            return "default"

        made[name] = default
    return system, made


def variant(requires: str, function: str) -> dict[str, str]:
    return {"requires": requires, "function": function}


def test_the_first_one_that_is_met_serves() -> None:
    """D6: then the plain one; then none, with the reason."""
    absent, newer, older = (
        variant(ONLY, "builtins:min"),
        variant(f"{PACKAGING}>=20", "builtins:max"),
        variant(f"{PACKAGING}>=1", "builtins:min"),
    )
    system, functions = library(
        first={"function": "builtins:sum", "variants": [absent, newer, older]},
        plain={"function": "builtins:sum", "variants": [absent]},
        alone={"variants": [newer]},
        missing={"variants": [absent, variant(f"{PACKAGING}<1", "builtins:min")]},
        simple={"function": "builtins:sum"},
    )
    found = {name: function([1, 2]) for name, function in functions.items()}
    assert found == {"first": 2, "plain": 3, "alone": 2, "missing": "default", "simple": 3}
    assert functions["missing"].backends == ("default",)
    description = system.backends["b"]
    assert description.functions["lib:first"].variant == Variant(**newer)
    assert description.functions["lib:plain"].variant is None
    assert f"{PACKAGING}>=20" in str(functions["first"].explain([1]))
    assert all(text in str(functions["missing"].explain([1])) for text in (ONLY, PACKAGING))
    assert pickle.loads(pickle.dumps(description)) == description


def test_every_other_function_may_have_variants() -> None:
    """D4, D6: and so may the defaults."""
    every = {"*": {"variants": [variant(ONLY, "builtins:min")]}}
    system = BackendSystem(
        None,
        "VARIANTS",
        backends=[
            {"name": "b", "primary_types": ["builtins:list"], "functions": every},
            {
                "name": "c",
                "primary_types": ["builtins:tuple"],
                "functions": {
                    "defaults": {"variants": [variant(PACKAGING, "builtins:max")]},
                    "lib:f": {},
                },
            },
        ],
    )

    @system.dispatchable("x", module="lib", qualname="f")
    def f(x: Any) -> object:
        return "default"

    assert (f([1, 2]), f((1, 2))) == ("default", 2)
    assert system.backends["b"].every is None
    assert ONLY in str(f.explain([1]))


@pytest.mark.parametrize(
    ("version", "met", "unmet"),
    [
        ("2.0rc1", [">=1.12", "<=2.0", "==2.*", ">=2.0.dev0"], [">=2.0", "<2.0", ">1.12,<2"]),
        ("2.0.dev3+git1", [">=1.13", ">=2.0.dev0"], [">=2.0", "<2.0"]),
        ("1.12.1+cu118", ["==1.12.1", "<=1.12.1", "~=1.12", "==1.12.1+cu118"], [">1.12.1"]),
        ("1.12.0.post1", [">=1.12", "==1.12.*"], ["==1.12", "<=1.12"]),
        ("no version", [""], [">=0", "==0"]),
    ],
    ids=["pre-release", "nightly", "local", "post-release", "broken"],
)
def test_versions_that_are_no_plain_release(
    version: str,
    met: list[str],
    unmet: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D6: compared as installers compare them, a pre-release too; nothing is imported."""
    files = {"frame.py": "raise ImportError", "my_frame.py": "raise ImportError"}
    write_distribution(tmp_path, "my-frame", files=files, version=version)
    monkeypatch.syspath_prepend(tmp_path)
    names = ("my-frame", "My_Frame")
    entries = {
        text: {"variants": [variant(f"{name}{text}", "builtins:max") for name in names]}
        for text in [*met, *unmet]
    }
    system, functions = library(**{f"f{n}": entry for n, entry in enumerate(entries.values())})
    found = [functions[f"f{n}"]([1, 2]) for n in range(len(entries))]
    assert found == [2] * len(met) + ["default"] * len(unmet)
    assert system.problems == ()
    for n in range(len(met), len(entries)):
        assert f"my-frame {version} is installed" in str(functions[f"f{n}"].explain([1]))


@pytest.mark.parametrize(
    "text",
    [
        "torch>=",
        "torch>=one",
        "torch=>1",
        "torch 1.5",
        "torch>=1 <2",
        "torch; foo == 'x'",
    ],
)
def test_malformed_requirements(text: str) -> None:
    """D5, D6: each is a problem that says where it is, and its function is the plain one."""
    entry = {"function": "builtins:sum", "variants": [variant(text, "builtins:max")]}
    system, functions = library(f=entry, other={"function": "builtins:max"})
    with pytest.warns(UserWarning, match="backend 'b'"):
        assert functions["f"]([1, 2]) == 3
    assert functions["other"]([1, 2]) == 2
    (problem,) = system.problems
    assert problem.key == 'functions."lib:f".variants[0].requires'
    assert problem.backend == "b"


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ({"variants": "torch"}, "variants"),
        ({"variants": ["torch"]}, "variants[0]"),
        ({"variants": [{"requires": "torch"}]}, "variants[0].function"),
        ({"variants": [variant("torch", "nowhere")]}, "variants[0].function"),
        ({"variants": [variant(">=1", "m:f")]}, "variants[0].requires"),
        (
            {"variants": [{**variant("torch", "m:f"), "should_run": "m:g"}]},
            "variants[0].should_run",
        ),
        ({"variants": []}, "function"),
    ],
    ids=["text", "texts", "incomplete", "identifier", "requirement", "misplaced", "empty"],
)
def test_faults(entry: dict[str, Any], key: str) -> None:
    """D5, D6: each with its key path."""
    system, functions = library(f=entry)
    with pytest.warns(UserWarning, match="backend 'b'"):
        assert functions["f"]([1]) == "default"
    assert f'functions."lib:f".{key}' in [each.key for each in system.problems]
