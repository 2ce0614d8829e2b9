"""Remedies are found by asking the core; those of whole commands are tried in `test_why_not`."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from spatch_core import BackendSystem
from spatch_core.examination.question import Attempt, GivenType, Question
from spatch_core.examination.why_not import why_not

FRACTION = "fractions:Fraction"


def test_a_type_it_does_not_know_keeps_it_from_converting() -> None:
    """V9: its description could accept the type; not if the function is the obstacle."""
    described = {
        "name": "decimals",
        "primary_types": ["decimal:Decimal"],
        "to_default": Fraction,
        "from_default": Decimal,
    }
    system = BackendSystem(None, "WHYLIB", ["fractions:Fraction"], [described])
    system.dispatchable(["x", "y"], identifier="whylib:f")(lambda x, y: x)
    types = (GivenType(FRACTION, Fraction), GivenType("decimal:Decimal", Decimal))
    answer = why_not(Question(system, "whylib:f", types), "decimals")
    assert answer.outcome is Attempt.WOULD
    assert [each.text for each in answer.remedies] == [
        "with backend_opts(fallback='convert'), call it with decimal:Decimal, decimal:Decimal"
    ]
    (obstacle,) = answer.obstacles
    assert obstacle.endswith(f"would have to have {FRACTION} in secondary_types")

    @system.dispatchable("x", identifier="whylib:items")
    def items(x: Any) -> Any:
        yield x

    answer = why_not(Question(system, "whylib:items", types[1:]), "decimals")
    assert answer.outcome is Attempt.CANNOT
    assert answer.obstacles == ["it does not implement whylib:items; these do: default"]


def test_conversions_and_refusals_are_answered_by_the_core() -> None:
    """V8, V16: a backend that would convert runs; one that cannot says why."""
    described = {
        "name": "decimals",
        "primary_types": ["decimal:Decimal"],
        "to_default": float,
        "from_default": Decimal,
    }
    shy = {**described, "name": "shy", "requires_opt_in": True}
    system = BackendSystem(None, "WHYLIB", ["builtins:float"], [described, shy], fallback="convert")
    system.dispatchable("x", identifier="whylib:f")(lambda x: x)
    question = Question(system, "whylib:f", (GivenType("decimal:Decimal", Decimal),))
    assert why_not(question, "decimals").outcome is Attempt.RUNS
    answer = why_not(question, "default")
    assert answer.reason == "it runs with the converted arguments"
    answer = why_not(question, "shy")
    assert "requires opt-in" in answer.reason
