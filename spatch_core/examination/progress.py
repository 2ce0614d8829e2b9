"""Says what takes long, if anything was asked to show it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import TypeAlias

Announce: TypeAlias = Callable[[str], AbstractContextManager[None]]

announce: ContextVar[Announce | None] = ContextVar("announce", default=None)
"""Called with what is about to be done; in force while that lasts. The command line sets it."""


def progress(text: str) -> AbstractContextManager[None]:
    """Announce something that may take long.

    Parameters
    ----------
    text : str
        The step under way.

    Examples
    --------
    >>> with progress("counting"):
    ...     sum(range(4))
    6
    """
    shown = announce.get()
    return nullcontext() if shown is None else shown(text)
