"""The stages of a call in a state with hooks: each hook with the scope that it runs in."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .hooks import Hook, Stages
    from .scope import Scope
    from .state_keeper import StateKeeper


def stages_of(keeper: StateKeeper, scope: Scope) -> Stages:
    """Return the hooks of a scope, innermost first, each with the tables that it runs under.

    A hook runs without itself and without the hooks inside it; outer hooks stay active.
    """
    stages = scope.stages
    if stages is None:
        hooks: tuple[Hook, ...] = scope.state.hook or ()
        found = []
        for place, hook in enumerate(hooks, 1):
            state = scope.state.replace(hook=hooks[place:] or None)
            found.append((hook, keeper.scope(state).tables))
        # Two threads may come here at once; their stages are equivalent.
        stages = scope.stages = tuple(found)
    return stages
