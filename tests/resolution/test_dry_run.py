"""The dry run of a call: explained from its walk and its ending."""

from __future__ import annotations

from typing import Any

from spatch_core import IF_NEEDED, BackendSystem
from spatch_core.types import Verdict

HERE = __name__


class Foreign:
    """A type of backends."""


def implementation(*args: Any) -> str:
    return "backend"


def needed(*args: Any) -> Any:
    return IF_NEEDED


def decides(*args: Any) -> bool:
    return True


def make(*should_runs: str | None, **options: Any) -> Any:
    backends = []
    for number, name in enumerate(should_runs):
        entry: dict[str, Any] = {"function": f"{HERE}:implementation"}
        if name:
            entry["should_run"] = f"{HERE}:{name}"
        backends.append(
            {
                "name": f"b{number}",
                "primary_types": [f"{HERE}:Foreign"],
                "functions": {"lib:f": entry},
            }
        )
    system = BackendSystem(None, "EXPLAINLIB", backends=backends, **options)
    return system, system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")


def verdicts(explanation: Any) -> list[Any]:
    return [each.verdict for each in explanation.backends]


def test_the_first_that_said_if_needed_runs_where_nothing_else_does() -> None:
    """V8, C4: and the others come after it."""
    for policy in ("default", "raise"):
        _, f = make("needed", "needed", fallback=policy)
        explanation = f.explain(Foreign())
        assert explanation.selected == "b0"
        assert verdicts(explanation) == [Verdict.RUNS, Verdict.DEFERS, Verdict.LATER]


def test_it_does_not_run_where_another_one_does() -> None:
    _, f = make("needed", None)
    explanation = f.explain(Foreign())
    assert explanation.selected == "b1"
    assert verdicts(explanation) == [Verdict.DEFERS, Verdict.RUNS, Verdict.LATER]


def test_without_arguments_nothing_is_selected_behind_a_question() -> None:
    """V8: neither a backend nor a refusal is certain."""
    system, _ = make("decides", None)
    explanation = system.explain_types("lib:f", [Foreign])
    assert explanation.selected is None
    assert verdicts(explanation) == [Verdict.ASKED, Verdict.RUNS, Verdict.LATER]


def test_the_line_of_the_default_says_that_it_would_refuse_or_warn() -> None:
    """V8: with the policy."""
    _, f = make(fallback="raise")
    assert "would refuse: fallback='raise'" in str(f.explain(Foreign()))
    _, f = make(fallback="warn")
    assert "runs: fallback='warn'" in str(f.explain(Foreign()))
