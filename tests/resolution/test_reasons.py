"""Why backends are no candidates of a call, in the words of explanations."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.types import Verdict
from tests.resolution.conftest import HERE, Foreign, Own, describe, f


class Other:
    """A type of another backend."""


def reasons(args: tuple[Any, ...], *backends: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Explain a call; return what is said of each backend."""
    system = BackendSystem(None, "LIB", [f"{HERE}:Own"], backends=backends)
    function: Any = system.dispatchable(("x", "y"), module="lib")(f)
    with system.backend_opts(**options):
        explained = function.explain(*args).backends
    return {each.backend: (each.verdict, each.reason) for each in explained}


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ((Own(), Foreign()), f"it does not know {HERE}:Own, {HERE}:Foreign"),
        ((Foreign(),), f"it does not know {HERE}:Foreign"),
        ((1,), "no active backend that implements it knows any of the types"),
        ((None,), "no argument has a type to dispatch on"),
    ],
    ids=["two unknown types", "one", "a type that counts for no backend", "no types"],
)
def test_a_backend_that_does_not_match_does_not_know_a_type(
    args: tuple[Any, ...], reason: str
) -> None:
    """F7: all types that it does not know are named."""
    found = reasons(args, describe("other", Other), describe("foreign", Foreign))
    assert found["other"] == (Verdict.NO_MATCH, reason)


def test_an_inactive_backend_tells_what_keeps_it_inactive() -> None:
    """F7: the options, the opt-in that it requires, or a requirement that is not met."""
    backends = (
        describe("disabled", Foreign),
        describe("opted", Foreign, requires_opt_in=True),
        describe("unmet", Foreign, requires=["no-such-distribution"]),
    )
    found = reasons((Foreign(),), *backends, disable="disabled")
    assert {name: found[name] for name in ("disabled", "opted", "unmet")} == {
        "disabled": (Verdict.INACTIVE, "it is disabled"),
        "opted": (Verdict.INACTIVE, "it requires opt-in: prioritize='opted'"),
        "unmet": (
            Verdict.INACTIVE,
            "it requires no-such-distribution, which is not installed",
        ),
    }


@pytest.mark.parametrize("disable", [(), "unused"], ids=["requires opt-in", "disabled"])
def test_a_backend_that_lacks_the_function_is_not_recommended(disable: Any) -> None:
    """F8: to prioritize it would change nothing, so the explanation does not say that."""
    unused = describe("unused", Foreign, implements=False, requires_opt_in=True)
    opted = describe("opted", Foreign, requires_opt_in=True)
    system = BackendSystem(None, "LIB", [f"{HERE}:Own"], backends=[unused, opted])
    function: Any = system.dispatchable("x", module="lib")(f)
    with system.backend_opts(disable=disable):
        explained = {each.backend: each for each in function.explain(Foreign()).backends}
    found = explained["unused"]
    assert (found.verdict, found.reason) == (Verdict.NO_IMPLEMENTATION, "")
    assert explained["opted"].reason == "it requires opt-in: prioritize='opted'"
