"""Replaces the process-wide default: by what the environment says, or a program."""

from __future__ import annotations

from .state import initial_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .keeper import StateKeeper
    from .lifetime import Mark
    from .owner import Owner
    from .scope import Scope
    from .state import DispatchState


def enable(keeper: StateKeeper, options: DispatchState) -> None:
    """Add options to the default; see `BackendOptions.enable_globally`."""
    outer = keeper.default.state
    if keeper.enabled_globally and options.within(outer).key != outer.key:
        from .._callers_line import warn_caller  # for a program's mistake alone
        from .._reporting.warning_categories import GlobalOptionsWarning

        warn_caller(
            GlobalOptionsWarning(
                "enable_globally() was called before; the new options are added to the "
                "earlier ones and override them where they contradict"
            )
        )
    mark = _mark(keeper, options)

    # Not the state found above: another thread may have added to it.
    def add(base: Scope) -> tuple[DispatchState, Mark | None]:
        return options.within(base.state), mark or base.mark

    _replace(keeper, add, enabled=True)
    if options.disabled:
        keeper.observations.after()  # functions that only these implement dispatch no more


def change(keeper: StateKeeper, change_state: Callable[[DispatchState], DispatchState]) -> None:
    """Replace the default by what `change_state` makes of it, observed as it was."""

    def made(base: Scope) -> tuple[DispatchState, Mark | None] | None:
        state = change_state(base.state)
        return None if base.is_enabled and state.key == base.state.key else (state, base.mark)

    _replace(keeper, made, enabled=True)


def set_default(keeper: StateKeeper, state: DispatchState, enabled: bool = False) -> None:
    """Make a state the default.

    Parameters
    ----------
    keeper : StateKeeper
        The library's dispatch state.
    state : DispatchState
        The state.
    enabled : bool, optional
        Whether a program made it the default, and not the environment.
    """
    mark = _mark(keeper, state)
    _replace(keeper, lambda _: (state, mark), enabled)


def set_environment(keeper: StateKeeper, state: DispatchState) -> None:
    """Make the state that the environment asks for the default, unless a program has changed it."""
    _replace(keeper, lambda base: None if base.is_enabled else (state, None))


def reset(owner: Owner) -> None:
    """Return the default to what the environment says; see `BackendOptions.reset_globally`."""
    keeper = owner.keeper
    if not keeper.enabled_globally:
        return
    set_default(keeper, initial_state(owner.catalog()))
    # Another thread may have discovered the backends again, and seen the options still enabled.
    set_environment(keeper, initial_state(owner.catalog()))


def _mark(keeper: StateKeeper, state: DispatchState) -> Mark | None:
    """Begin an observation if a state is observed."""
    return keeper.observations.begin() if state.is_observed else None


def _replace(
    keeper: StateKeeper,
    make: Callable[[Scope], tuple[DispatchState, Mark | None] | None],
    enabled: bool = False,
) -> None:
    """Replace the default.

    Parameters
    ----------
    keeper : StateKeeper
        The library's dispatch state.
    make : callable
        Takes the default; returns the new state with its mark, or None to change nothing.
    enabled : bool, optional
        Whether a program changes it, and not the environment.
    """

    def replace() -> None:
        before = keeper.base
        made = make(before)
        if made is None:
            return
        scope = keeper.new(made[0])
        scope.mark, scope.is_enabled = made[1], enabled
        keeper.put_default(scope)
        # A program may keep what refers to that scope, e.g. the call of a hook.
        keeper.observations.drop(before)

    keeper.replacing.run(replace)
