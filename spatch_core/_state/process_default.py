"""Replaces the process-wide default: for the environment variables, or for a program."""

from __future__ import annotations

from .state import initial_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .options_owner import Owner
    from .scope import Scope
    from .state import DispatchState
    from .state_keeper import StateKeeper


def enable(keeper: StateKeeper, options: DispatchState) -> None:
    """Add options to the default; see `BackendOptions.enable_globally`."""
    outer = keeper.default.state
    if keeper.enabled_globally and options.within(outer).key != outer.key:
        _warn(
            "the options of the process were changed before; the new options are added to the "
            "earlier ones and override them where they contradict"
        )
    if keeper.is_own() and keeper.current().backend is not None:
        _warn(
            "this thread or task has set a backend and keeps its own options, so that those of the "
            "process do not hold here; call unset_backend() first, or leave the block"
        )
    # Starts from the present default: another thread may have changed it since the check above.
    _replace(keeper, lambda default: options.within(default.state), enabled=True)


def _warn(text: str) -> None:
    from .._callers_line import warn_caller  # rarely needed
    from .._errors import GlobalOptionsWarning

    warn_caller(GlobalOptionsWarning(text))


def change(keeper: StateKeeper, change_state: Callable[[DispatchState], DispatchState]) -> None:
    """Replace the state of the default by `change_state` of it."""

    def made(default: Scope) -> DispatchState | None:
        state = change_state(default.state)
        return None if default.is_enabled and state.key == default.state.key else state

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
    _replace(keeper, lambda _: state, enabled)


def set_environment(keeper: StateKeeper, state: DispatchState) -> None:
    """Make the environment's state the default, unless a program has changed the default."""
    _replace(keeper, lambda default: None if default.is_enabled else state)


def reset(owner: Owner) -> None:
    """Return the default to the environment's state; see `BackendOptions.reset_globally`."""
    keeper = owner.keeper
    if not keeper.enabled_globally:
        return
    set_default(keeper, initial_state(owner.catalog()))
    # Again, for a thread that has discovered the backends meanwhile: its `set_environment` may have
    # come before `set_default`, and so had no effect.
    set_environment(keeper, initial_state(owner.catalog()))


def _replace(
    keeper: StateKeeper,
    make: Callable[[Scope], DispatchState | None],
    enabled: bool = False,
) -> None:
    """Replace the default.

    Parameters
    ----------
    keeper : StateKeeper
        The library's dispatch state.
    make : callable
        Takes the default; returns the new state, or None to change nothing.
    enabled : bool, optional
        Whether a program changes it, and not the environment.
    """
    with keeper.replacing:
        made = make(keeper.default)
        if made is None:
            return
        scope = keeper.new(made)
        scope.is_enabled = enabled
        keeper.put_default(scope)
