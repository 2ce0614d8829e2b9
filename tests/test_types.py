"""F10: `spatch_core.types` holds the classes of the objects that users receive."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import pytest

from spatch_core import BackendSystem, examination, types
from tests.library import describe, make


def library() -> tuple[BackendSystem, types.DispatchableFunction[[Any], str]]:
    """A system that has not read its backends, one of which is broken, and its function."""
    backend = describe("b", "m:g")
    variants = [{"requires": "nothing-of-this-name", "function": "m:f"}]
    backend["functions"]["lib:f"]["variants"] = variants
    return make(backend, {"name": "broken"}, default=lambda x: "default", types="builtins:int")


@pytest.fixture(scope="module")
def received() -> dict[str, Any]:
    """What a program gets from the package, by the name of its class."""
    system, f = library()
    with pytest.warns(match="primary_types"):
        description = system.backends["b"]
    with system.backend_opts(trace=True) as trace:
        f(1)
    explanation = f.explain(1)
    (problem,) = system.problems
    return {
        "BackendOptions": system.backend_opts(),
        "Description": description,
        "ExplainedBackend": explanation.backends[0],
        "Explanation": explanation,
        "Implementation": description.functions["lib:f"],
        "Outcome": trace[0].outcome,
        "Finding": problem,
        "Source": problem.source,
        "Trace": trace,
        "TraceEvent": trace[0],
        "TypePattern": description.primary_types[0],
        "Variant": description.functions["lib:f"].variants[0],
        "Verdict": explanation.backends[0].verdict,
    }


def test_what_is_received_is_an_instance(received: dict[str, Any]) -> None:
    for name, each in received.items():
        assert isinstance(each, getattr(types, name)), name


def test_every_class_is_received_or_examined(received: dict[str, Any]) -> None:
    """A name that nothing returns would only be in the way."""
    # A hook receives the call.
    others = {"AutoGeneration", "Call", "DispatchableFunction"}
    examined = {name for name in examination.__all__ if inspect.isclass(getattr(examination, name))}
    assert set(types.__all__) == received.keys() | others | examined
    for name in examined:
        assert getattr(types, name) is getattr(examination, name)


def test_what_is_received_is_copied_and_pickled(received: dict[str, Any]) -> None:
    """A test or a service keeps it, or gets it from another process."""
    finding = types.Finding("m", "r", "b", "k", types.Source(file="f"), more_keys=("l",), line=3)
    for each in (*received.values(), finding, finding.severity, types.AutoGeneration("m:b")):
        if isinstance(each, types.BackendOptions):
            continue  # `tests/state/test_pickles.py` has these
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            data = pickle.dumps(each, protocol)
            for again in (pickle.loads(data), copy.copy(each), copy.deepcopy(each)):
                assert type(again) is type(each)
                assert again == each
    assert pickle.loads(pickle.dumps(types.Verdict.RUNS)) is types.Verdict.RUNS


REPORTS = [
    types.Report("lib", (types.Finding("m", "r"),)),
    types.FileReport("a.toml", (), "b", ("lib:f",)),
    types.FileUpdate("a.toml", (), "before", "after", ("lib:f",)),
    types.LibraryReport("lib", (), types.Library("lib", "lib:system", types.Source()), ({},)),
]


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: type(report).__name__)
def test_reports_are_pickled(report: types.Report) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(report, protocol)) == report
    assert report.ok is (type(report) is not types.Report)
    with pytest.raises(AttributeError):
        report.findings = ()  # type: ignore[misc]  # frozen
