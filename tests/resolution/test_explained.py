"""What `explain` says of every backend, and that it is what a call does."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.types import Verdict


class Own:
    """The library's type."""


class Foreign:
    """The backends' type."""


class Rare:
    """A type of an opt-in backend."""


def first(*args: Any) -> str:
    return "first"


def second(*args: Any) -> str:
    return "second"


def third(*args: Any) -> str:
    return "third"


def says_small(context: Any, *args: Any) -> Any:
    return "the array is small"


def fails(context: Any, *args: Any) -> bool:
    raise LookupError("mine")


def pattern(name: str, prefix: str = "") -> str:
    return f"{prefix}{__name__}:{name}"


def describe(
    name: str, primary: Any = ("Foreign",), secondary: Any = (), should_run: str = "", **fields: Any
) -> Any:
    entry = {"function": f"{__name__}:{name}"}
    if should_run:
        entry["should_run"] = should_run if ":" in should_run else f"{__name__}:{should_run}"
    return {
        "name": name,
        "primary_types": [each if ":" in each else pattern(each) for each in primary],
        "secondary_types": [each if ":" in each else pattern(each) for each in secondary],
        "functions": {"lib:f": entry},
        **fields,
    }


def make(*backends: Any, **options: Any) -> Any:
    """Make a library; returns its system and its function of any arguments."""
    system = BackendSystem(None, "MYLIB", [pattern("Own")], backends, **options)

    @system.dispatchable(None, module="lib", qualname="f")
    def f(*args: Any) -> str:
        return "default"

    return system, f


def order(explanation: Any) -> list[str]:
    return [each.backend for each in explanation.backends]


def verdicts(explanation: Any) -> dict[str, tuple[Verdict, str]]:
    return {each.backend: (each.verdict, each.reason) for each in explanation.backends}


def test_explanation_names_every_backend_with_its_reason() -> None:
    """F7: what would run, and why all others would not."""
    system, f = make(
        describe("first", should_run="says_small"),
        describe("second", functions={}, requires_opt_in=True),
        describe("third"),
        describe("later"),
        describe("opted", requires_opt_in=True),
        describe("other", ["Rare"]),
        describe("off"),
        describe("unmet", requires=["no-such-distribution"]),
        describe("partly", ["Rare"], ["Foreign"]),
    )
    with system.backend_opts(disable="off"):
        explanation = f.explain(Foreign())
    assert explanation.function == "lib:f"
    assert explanation.types == (Foreign,)
    assert explanation.selected == "third"
    assert verdicts(explanation) == {
        "first": (Verdict.DEFERS, "the array is small"),
        "second": (Verdict.NO_IMPLEMENTATION, ""),
        "third": (Verdict.RUNS, ""),
        "later": (Verdict.LATER, ""),
        "opted": (Verdict.INACTIVE, "it requires opt-in: prioritize='opted'"),
        "other": (Verdict.NO_MATCH, f"it does not know {__name__}:Foreign"),
        "off": (Verdict.INACTIVE, "it is disabled"),
        "unmet": (Verdict.INACTIVE, "it requires no-such-distribution, which is not installed"),
        "partly": (Verdict.NO_MATCH, "none of the types is a primary type of it"),
        "default": (Verdict.LATER, ""),
    }
    assert order(explanation)[-1] == "default"


@pytest.mark.parametrize("args", [(3,), (), (None, 3)], ids=["unknown", "none", "several"])
def test_explanation_of_a_fallback(args: Any) -> None:
    """V1, F7: where nothing handles the types, `explain` says why no backend did."""
    _, f = make(describe("first"))
    explanation = f.explain(*args)
    assert explanation.selected == f(*args) == "default"
    reason = "it does not know builtins:int"
    if not args:
        reason = "no argument has a type to dispatch on"
    assert verdicts(explanation) == {
        "first": (Verdict.NO_MATCH, reason),
        "default": (Verdict.RUNS, "no backend takes the call"),
    }


@pytest.mark.parametrize(
    ("args", "unknown"),
    [((Own(), Foreign()), ["Own", "Foreign"]), ((Foreign(),), ["Foreign"])],
    ids=["two", "one"],
)
def test_all_types_that_a_backend_does_not_know_are_named(args: Any, unknown: list[str]) -> None:
    """F7: in order of appearance."""
    _, f = make(describe("first"), describe("second", ["Rare"]))
    reason = f"it does not know {', '.join(map(pattern, unknown))}"
    assert verdicts(f.explain(*args))["second"] == (Verdict.NO_MATCH, reason)


def test_explanation_of_types_asks_nobody() -> None:
    """`explain_types` knows no arguments: it says who would be asked, and what then."""
    system, f = make(
        describe("first", should_run="fails"), describe("second"), describe("third", ["Rare"])
    )
    explanation = system.explain_types("lib:f", [Foreign, Foreign])
    assert explanation.types == (Foreign,)
    assert explanation.selected is None
    assert verdicts(explanation) == {
        "first": (Verdict.ASKED, f"{__name__}:fails decides"),
        "second": (Verdict.RUNS, "unless one above does"),
        "third": (Verdict.NO_MATCH, f"it does not know {__name__}:Foreign"),
        "default": (Verdict.LATER, ""),
    }
    with system.backend_opts(disable="first", type=Foreign):
        assert system.explain_types("lib:f", []).selected == "second"
        assert system.explain_types("lib:f", [Rare]).selected == "default"
    with pytest.raises(KeyError, match="lib:g"):
        system.explain_types("lib:g", [])
    assert f.explain(Rare()).selected == "third"


@pytest.mark.parametrize(
    ("primary", "cls"),
    [("Foreign", Foreign), (pattern("Foreign", "~"), Foreign), ("@collections.abc:Sized", dict)],
)
def test_types_of_any_pattern_can_be_given(primary: str, cls: type) -> None:
    """S4: `type=` takes what any backend has as a primary type, of whatever pattern."""
    system, f = make(describe("first", [primary]))
    with system.backend_opts(type=cls):
        assert f(3) == "first"
