"""Each hook runs in a scope without itself."""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem
from spatch_core._state.hook_stages import stages_of

system = BackendSystem(None, "STAGES")


class Plain:
    def __call__(self, call: Any) -> Any:
        return call.next(*call.args)


def test_each_hook_runs_under_the_outer_ones() -> None:
    """H3: the scopes are found once."""
    keeper = system._dispatcher.keeper
    one, two = Plain(), Plain()
    with system.backend_opts(hook=one), system.backend_opts(hook=two, disable=()):
        scope = keeper.get()[0]
        stages = stages_of(keeper, scope)
        assert stages_of(keeper, scope) is stages
    assert [(hook, tables[0].state.hook) for hook, tables in stages] == [(two, (one,)), (one, None)]
