"""Announces steps that may take long."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import TypeAlias

Announce: TypeAlias = Callable[[str], AbstractContextManager[None]]

announce: ContextVar[Announce | None] = ContextVar("announce", default=None)
"""Makes a context manager that shows a step while it lasts. The command line sets it."""


def progress(text: str) -> AbstractContextManager[None]:
    """Announce a step that may take long, for a ``with`` block.

    Examples
    --------
    >>> with progress("counting"):
    ...     sum(range(4))
    6
    """
    shown = announce.get()
    return nullcontext() if shown is None else shown(text)
