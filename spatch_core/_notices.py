"""Notices that a backend runs one of the library's functions for the first time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._callers_line import warn_caller


class Notices:
    """Notifies once for each function and backend.

    Parameters
    ----------
    notify : callable or type
        Called with the identifier of the function and the name of the backend; or the category of
        a warning.
    """

    def __init__(self, notify: Callable[[str, str], object] | type[Warning]) -> None:
        self._notify = notify
        self._told: set[tuple[str, str]] = set()

    def __call__(self, function: str, backend: str) -> None:
        """Notify that a backend is about to run a function, the first time that it does."""
        if (function, backend) in self._told:
            return
        # Recorded first: a filter may turn the warning into an exception.
        self._told.add((function, backend))
        notify: Any = self._notify
        if isinstance(notify, type) and issubclass(notify, Warning):
            warn_caller(notify(f"{function} is run by the backend {backend!r}"))
        else:
            notify(function, backend)


def checked(notify: object) -> None:
    """Raise a `TypeError` unless `notify` is a category of warnings or another callable."""
    is_usable = issubclass(notify, Warning) if isinstance(notify, type) else callable(notify)
    if not is_usable:
        raise TypeError(
            "notify= takes a callable or a category of warnings, such as UserWarning, "
            f"not {notify!r}"
        )
