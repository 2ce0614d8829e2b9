"""Warnings that point at the caller's line, outside this package, and notices of backends."""

from __future__ import annotations

import sys
import warnings

from ._patterns import GENERATED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType
    from typing import Any

_PACKAGE = __name__.rpartition(".")[0] + "."
# These two modules of the standard library call back into this package.
_CALLING_BACK = ("importlib", "functools")


def warn_caller(warning: Warning) -> None:
    """Issue a warning at the first line outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (_is_between(frame) or _package_of(frame) in _CALLING_BACK):
        frame = frame.f_back
    warnings.warn_explicit(
        warning,
        type(warning),
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__") or "<unknown>",
        # The module's registry, by which the filter "default" shows a warning once per line.
        frame.f_globals.setdefault("__warningregistry__", {}),
    )


def warn_user(
    message: str, category: type[Warning], packages: Iterable[str], frame: FrameType
) -> None:
    """Issue a warning of a backend at the line of the user, who called the library.

    `frame` is the backend's frame that warns: the caller of this function's caller. The frames of
    `packages` are skipped, too.
    """
    # A call may import the backend.
    left_out = {_package_of(frame), "importlib", *packages}
    level = 3  # the level of `frame`: 1 is this function, 2 its caller
    while frame.f_back is not None and (
        _package_of(frame) in left_out or _is_between(frame) or _is_uncounted(frame)
    ):
        frame = frame.f_back
        level += not _is_uncounted(frame)
    warnings.warn(message, category, stacklevel=level)


def stacklevel(level: int = 2) -> int:
    """Return a ``stacklevel`` for `warnings.warn` that skips the frames of dispatching.

    A dispatched call may have frames of this package between a library's function and its
    caller. Their number depends on the installed backends and on the options in force.

    Parameters
    ----------
    level : int, optional
        The ``stacklevel`` without dispatching: 1 is the line that calls `stacklevel`, 2 (the
        default) the line that calls the function, and so on.

    Returns
    -------
    int
        For `warnings.warn` in the function that calls `stacklevel`.

    Examples
    --------
    >>> import warnings
    >>> from spatch_core import stacklevel
    >>> def blur(image, width=None):
    ...     if width is not None:
    ...         warnings.warn("width is now sigma", DeprecationWarning, stacklevel=stacklevel())
    """
    frame = sys._getframe(1)
    found = 1
    while level > 1 and frame.f_back is not None:
        frame = frame.f_back
        if _is_uncounted(frame):
            continue
        found += 1
        if not _is_between(frame):
            level -= 1
    return found + level - 1


def _is_between(frame: FrameType) -> bool:
    """Whether a frame belongs to dispatching, between a library's function and its caller."""
    # Generated code is recognized by its file name, because it may run in the library's namespace.
    is_generated = frame.f_code.co_filename.startswith(GENERATED)
    return is_generated or f"{frame.f_globals.get('__name__')}.".startswith(_PACKAGE)


def _is_uncounted(frame: FrameType) -> bool:
    """Whether a frame is one of those of an import that `warnings` does not count."""
    file = frame.f_code.co_filename
    return "importlib" in file and "_bootstrap" in file


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


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


def check_notify(notify: object) -> None:
    """Raise a `TypeError` unless `notify` is a category of warnings or another callable."""
    is_usable = issubclass(notify, Warning) if isinstance(notify, type) else callable(notify)
    if not is_usable:
        raise TypeError(
            "notify= takes a callable or a category of warnings, such as UserWarning, "
            f"not {notify!r}"
        )
