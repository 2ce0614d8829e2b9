"""Replaces the process-wide default: for the environment variables, or for a program."""

from __future__ import annotations

from .state import initial_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .lifetime import Mark
    from .options_owner import Owner
    from .scope import Scope
    from .state import DispatchState
    from .state_keeper import StateKeeper


def enable(keeper: StateKeeper, options: DispatchState) -> None:
    """Add options to the default; see `BackendOptions.enable_globally`."""
    outer = keeper.default.state
    if keeper.enabled_globally and options.within(outer).key != outer.key:
        from .._callers_line import warn_caller  # rarely needed
        from .._reporting.warning_categories import GlobalOptionsWarning

        warn_caller(
            GlobalOptionsWarning(
                "enable_globally() was called before; the new options are added to the "
                "earlier ones and override them where they contradict"
            )
        )
    mark = _mark(keeper, options)

    # Starts from the present default: another thread may have changed it since the check above.
    def add(default: Scope) -> tuple[DispatchState, Mark | None]:
        return options.within(default.state), mark or default.mark

    _replace(keeper, add, enabled=True)
    if options.disabled:
        # Functions that only disabled backends implement need not dispatch any more.
        keeper.observations.after()


def change(keeper: StateKeeper, change_state: Callable[[DispatchState], DispatchState]) -> None:
    """Replace the state of the default by `change_state` of it; keep its observation."""

    def made(default: Scope) -> tuple[DispatchState, Mark | None] | None:
        state = change_state(default.state)
        is_same = default.is_enabled and state.key == default.state.key
        return None if is_same else (state, default.mark)

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
        Whether a program makes it the default, and not the environment.
    """
    mark = _mark(keeper, state)
    _replace(keeper, lambda _: (state, mark), enabled)


def set_environment(keeper: StateKeeper, state: DispatchState) -> None:
    """Make the environment's state the default, unless a program has changed the default."""
    _replace(keeper, lambda default: None if default.is_enabled else (state, None))


def reset(owner: Owner) -> None:
    """Return the default to the environment's state; see `BackendOptions.reset_globally`."""
    keeper = owner.keeper
    if not keeper.enabled_globally:
        return
    set_default(keeper, initial_state(owner.catalog()))
    # Again, for a thread that has discovered the backends meanwhile: its `set_environment` may have
    # come before `set_default`, and so had no effect.
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
        before = keeper.default
        made = make(before)
        if made is None:
            return
        scope = keeper.new(made[0])
        scope.mark, scope.is_enabled = made[1], enabled
        keeper.put_default(scope)
        # Explicitly, because something may keep the scope alive, e.g. the call of a hook.
        keeper.observations.drop(before)

    keeper.replacing.run(replace)
