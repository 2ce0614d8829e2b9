"""F12: `spatch_core.types` holds the classes of what users receive."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem, examination, types
from spatch_core.testing import run_python

HERE = __name__


class Foreign:
    """The backend's type."""


def implementation(x: Any) -> str:
    return "backend"


SYSTEM = BackendSystem(
    None,
    "TYPESLIB",
    ["builtins:int"],
    backends=[
        {
            "name": "b",
            "primary_types": [f"{HERE}:Foreign"],
            "functions": {"lib:f": {"function": f"{HERE}:implementation"}},
        },
        {"name": "broken"},
    ],
)


@SYSTEM.dispatchable("x", module="lib", qualname="f")
def f(x: Any) -> str:
    return "default"


@pytest.fixture(scope="module")
def received() -> dict[str, Any]:
    """What a program gets from the package, by the name of its class."""
    with pytest.warns(match="primary_types"):
        description = SYSTEM.backends["b"]
    with SYSTEM.backend_opts(trace=True) as trace:
        f(Foreign())
    explanation = f.explain(1)
    (problem,) = SYSTEM.problems
    return {
        "BackendOptions": SYSTEM.backend_opts(),
        "Description": description,
        "ExplainedBackend": explanation.backends[0],
        "Explanation": explanation,
        "Implementation": description.functions["lib:f"],
        "Outcome": trace[0].outcome,
        "Problem": problem,
        "Source": problem.source,
        "Trace": trace,
        "TraceEvent": trace[0],
        "TypePattern": description.primary_types[0],
        "Verdict": explanation.backends[0].verdict,
    }


def test_what_is_received_is_an_instance(received: dict[str, Any]) -> None:
    for name, each in received.items():
        assert isinstance(each, getattr(types, name)), name


def test_every_class_is_received_or_examined(received: dict[str, Any]) -> None:
    """A name that nothing returns would only be in the way."""
    others = {"AutoGeneration", "DispatchableFunction", "Finding", "Severity"}
    assert set(types.__all__) == received.keys() | others
    assert types.Finding is examination.Finding
    assert types.Severity is examination.Severity


def test_annotations_can_be_evaluated() -> None:
    """Tools such as Sphinx and runtime type checkers look names up at run time."""
    annotated: types.DispatchableFunction[[Any], str] = f
    assert annotated(1) == "default"


def test_it_is_imported_by_no_library() -> None:
    done = run_python(
        """
        import sys
        from spatch_core import BackendSystem

        system = BackendSystem(None, "MYLIB")
        system.dispatchable("x")(lambda x: x)(1)
        print("spatch_core.types" in sys.modules, "spatch_core.examination" in sys.modules)
        """
    )
    assert done.stdout.split() == ["False", "False"]
