"""Changes the process-wide default; imported when a program does that."""

from __future__ import annotations

from .._warning import warn_caller
from ..exceptions import GlobalOptionsWarning
from .state import DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .keeper import StateKeeper
    from .owner import Owner


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
    catalog = owner.catalog()
    keeper.set_default(DispatchState(catalog.prioritized))
    # Another thread may have discovered the backends again, and seen the options still enabled.
    keeper.set_environment(DispatchState(owner.catalog().prioritized))
