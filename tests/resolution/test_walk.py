"""The walk along the priority order: candidates and explanations take the same steps."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core._identifiers import DEFAULT
from spatch_core._resolution.explanation import Verdict
from tests.resolution.conftest import HERE, Foreign, Own, describe, f

BACKENDS = (
    describe("same", Own),
    describe("other", Foreign),
    describe("quiet", Foreign, requires_opt_in=True),
    describe("silent", Foreign, implements=False),
)


@pytest.fixture(scope="module")
def function() -> Any:
    system = BackendSystem(None, "LIB", [f"{HERE}:Own"], backends=BACKENDS)
    return system, system.dispatchable(("x", "y"), module="lib")(f)


STATES = [
    {},
    {"prioritize": "quiet"},
    {"prioritize": ("other", "same")},
    {"disable": "same"},
    {"prioritize": "quiet", "disable": ("other", "same")},
]
TYPES: list[tuple[type, ...]] = [(), (Own,), (Foreign,), (Own, Foreign), (int,), (int, Foreign)]


@pytest.mark.parametrize("options", STATES, ids=str)
@pytest.mark.parametrize("types", TYPES, ids=lambda types: "+".join(t.__name__ for t in types))
def test_explanations_show_the_candidates_in_the_order_of_calls(
    function: Any, options: dict[str, Any], types: tuple[type, ...]
) -> None:
    """The backends that run or come later are those that a call meets, up to the default."""
    system, dispatchable = function
    with system.backend_opts(**options):
        explained = dispatchable.explain(*[cls() for cls in types or (type(None),)])
        resolver, record = (
            system._dispatcher.ensure_loaded().resolver,
            system._dispatcher.records[0].function,
        )
        state = system._dispatcher.keeper.current()
        walk = resolver.walk(record, state, types)
        candidates = [each.backend for each in resolver.candidates(record, state, walk)]
    meets = {Verdict.RUNS, Verdict.LATER}
    shown = [each.backend for each in explained.backends if each.verdict in meets]
    assert shown[: len(candidates)] == candidates
    assert candidates[-1] == DEFAULT
    assert explained.selected == candidates[0]
