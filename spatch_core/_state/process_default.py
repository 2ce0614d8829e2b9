"""Changes the process-wide default; imported when a program does that."""

from __future__ import annotations

from .._warning import warn_caller
from ..exceptions import GlobalOptionsWarning
from .state import initial_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .keeper import StateKeeper
    from .owner import Owner
    from .state import DispatchState


def enable(keeper: StateKeeper, options: DispatchState) -> None:
    """Add options to the default; see `BackendOptions.enable_globally`."""
    outer = keeper.default.state
    if keeper.enabled_globally and options.within(outer).key != outer.key:
        warn_caller(
            GlobalOptionsWarning(
                "enable_globally() was called before; the new options are added to the "
                "earlier ones and override them where they contradict"
            )
        )
    # Not the state found above: another thread may have added to it.
    keeper.enable(options)


def reset(owner: Owner) -> None:
    """Return the default to what the environment says; see `BackendOptions.reset_globally`."""
    keeper = owner.keeper
    if not keeper.enabled_globally:
        return
    keeper.set_default(initial_state(owner.catalog()))
    # Another thread may have discovered the backends again, and seen the options still enabled.
    keeper.set_environment(initial_state(owner.catalog()))
