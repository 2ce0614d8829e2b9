"""Nearest names, texts of exceptions, and warnings that point at the caller's line.

The errors and warnings themselves are in `exceptions`. A library may import them and `stacklevel`
when it is imported itself, so neither module imports much.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator
    from types import FrameType

_LONGEST = 2_000
_MOST_TOLD = 10_000  # a program may make classes without end


def nearest(name: object, names: Iterable[str], similarity: float = 0.6) -> list[str]:
    """Return up to three of the `names`, those most similar to `name` apart from case."""
    from difflib import get_close_matches

    spellings: dict[str, list[str]] = {}
    for each in names:
        spellings.setdefault(each.casefold(), []).append(each)
    found = get_close_matches(str(name).casefold(), [*spellings], n=3, cutoff=similarity)
    # Of names that differ only in case, the one closest to the case of `name` goes first.
    ordered = [get_close_matches(str(name), spellings[each], n=3, cutoff=0) for each in found]
    return [spelling for group in ordered for spelling in group][:3]


def either(names: Iterable[str]) -> str:
    """Return names as ``'a' or 'b'``."""
    return " or ".join(map(repr, names))


def ended(sentence: str) -> str:
    """Return a sentence with a full stop, unless it ends with a mark of its own."""
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def in_words(error: BaseException) -> str:
    """Return the class and the text of an exception; the class alone without a text."""
    name = type(error).__name__
    try:
        return f"{name}: {error}" if str(error) else name
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # a backend's module may have raised it
        return name


def shortened(text: str) -> str:
    """Return a text of limited length: the middle of a long one is left out."""
    return (
        text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 4 :]}"
    )


def add_note(error: BaseException, text: str, unless: str | tuple[str, ...]) -> None:
    """Add a note, from Python 3.11 on, unless one begins so: that of a nested call says more."""
    notes = getattr(error, "__notes__", ())
    if any(type(each) is str and each.startswith(unless) for each in notes):
        return
    # An exception of a third party may refuse, and one of Python 3.10 has no such method.
    with suppress(Exception):
        error.add_note(text)  # type: ignore[attr-defined]


def leaves_out(name: str) -> str:
    """Return how to do without a backend, in words."""
    return f"backend_opts(disable={name!r}) leaves it out"


# The caller's line

# As `_patterns.GENERATED`, which the import of a library needs without this module.
_GENERATED = "<dispatch of "
# These two modules of the standard library call back into this package.
_CALLING_BACK = ("importlib", "functools")


def warn_caller(warning: Warning, packages: Iterable[str] = ()) -> None:
    """Issue a warning at the first line outside of this package, and of others."""
    left_out = {*_CALLING_BACK, *packages}
    outside = (
        level
        for frame, level in _callers(sys._getframe())
        if not _is_between(frame) and _module_of(frame).partition(".")[0] not in left_out
    )
    warnings.warn(warning, stacklevel=next(outside, 1))


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
    found = 1
    for frame, found in _callers(sys._getframe(1)) if level > 1 else ():
        level -= not _is_between(frame)
        if level == 1:
            return found
    return found + level - 1


def _callers(frame: FrameType) -> Iterator[tuple[FrameType, int]]:
    """Yield the callers of a frame, each with its ``stacklevel`` there."""
    level = 1
    while frame.f_back is not None:
        frame = frame.f_back
        file = frame.f_code.co_filename
        # `warnings` does not count these frames of an import.
        if not ("importlib" in file and "_bootstrap" in file):
            level += 1
            yield frame, level


def _is_between(frame: FrameType) -> bool:
    """Whether a frame belongs to dispatching, between a library's function and its caller."""
    # Generated code is recognized by its file name, because it may run in the library's namespace.
    is_generated = frame.f_code.co_filename.startswith(_GENERATED)
    return is_generated or f"{_module_of(frame)}.".startswith(f"{__package__}.")


def _module_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def is_first(told: dict[Hashable, None], key: Hashable) -> bool:
    """Whether something is told for the first time; from now on it counts as told."""
    # Without a lock: at worst, two threads both tell it.
    if key in told:
        return False
    if len(told) >= _MOST_TOLD:
        told.clear()
    told[key] = None
    return True
