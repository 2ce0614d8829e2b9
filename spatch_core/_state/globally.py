"""Adds options to the process-wide default; imported when a program does that."""

from __future__ import annotations

from .._warning import warn_caller
from ..exceptions import GlobalOptionsWarning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .keeper import StateKeeper
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
