"""One step of the walk along the backends: a candidate, or why a backend is not one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .candidate import IS_CURRENT

if TYPE_CHECKING:
    from .explanation import Verdict

LAST_RESORT = "nothing else answers"


class Step(NamedTuple):
    """One backend on the walk.

    Parameters
    ----------
    backend : str
        Its name.
    verdict : Verdict or None
        Why it is no candidate; None for a candidate.
    is_last_resort : bool
        Whether it is the default that does not match, which answers where no backend does.
    is_current : bool
        Whether it is the current backend in a call whose types say nothing.
    """

    backend: str
    verdict: Verdict | None
    is_last_resort: bool = False
    is_current: bool = False

    @property
    def why(self) -> str:
        """Why it is a candidate although its types do not say so; empty if they do."""
        return LAST_RESORT if self.is_last_resort else IS_CURRENT if self.is_current else ""
