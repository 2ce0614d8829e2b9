"""Findings with their places, nearest names, and warnings that point at the caller's line.

The errors and warnings themselves are in `exceptions`. Importing a library imports neither.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator
    from types import FrameType

_LONGEST = 2_000
_MOST_TOLD = 10_000  # a program may make classes without end

REGISTERED = "a description that was registered at run time"
"""The `entry_point` of a `Source` for a description registered at run time."""


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


# Values that users receive


class Source(NamedTuple):
    """Where a backend's description comes from.

    Parameters
    ----------
    entry_point : str or None
        ``"name = value"`` as the distribution's metadata has it; None for a description
        in the library's code.
    file : str or None
        The TOML file, once it has been found.
    metadata : importlib.metadata.Distribution or None
        The distribution. Its metadata is read on demand, because reading parses a file.
    """

    entry_point: str | None = None
    file: str | None = None
    metadata: Any = None

    @property
    def distribution(self) -> str | None:
        """Name of the distribution that has the entry point, if known."""
        return self._read()[0]

    @property
    def version(self) -> str | None:
        """Version of the distribution, if known."""
        return self._read()[1]

    def _read(self) -> tuple[str | None, str | None]:
        """Return name and version; both at once, because each read parses the metadata again."""
        if self.metadata is None:
            return None, None
        try:
            found = self.metadata.metadata
            name, version = found.get("Name"), found.get("Version")
            return name and str(name), version and str(version)
        except Exception:  # noqa: BLE001  # a third party's metadata, missing or malformed
            return None, None

    def __str__(self) -> str:
        if self.entry_point is None and self.metadata is None:
            return "a description in the library's code"
        if self.entry_point == REGISTERED:
            return self.entry_point
        name, version = self._read()
        parts = [f"distribution {name} {version or ''}".rstrip()] if name else []
        if self.entry_point:
            parts.append(f"entry point '{self.entry_point}'")
        if self.file:
            parts.append(f"file {self.file}")
        return ", ".join(parts) or "a distribution without a name"


class Severity(str, Enum):
    """How bad a finding is.

    An error never works. A warning works badly, or does not work in this environment.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    __str__ = str.__str__


class Finding(NamedTuple):
    """A fault or a remark about a backend, a library, a file or an environment variable.

    Parameters
    ----------
    message, remedy : str
        What is wrong, and what to do about it; both without a final full stop.
    backend : str or None
        The backend; ``"default"`` is the library itself. None for an environment variable, for
        the library's entry point, for a file, and for a distribution whose entry points cannot be
        read.
    key : str or None
        The key path in the description, or the environment variable.
    source : Source or None
        Where the description comes from.
    skips : bool
        Whether the library skips the backend because of it. False for an unknown key, which is
        ignored, and for a cycle, which skips backends only in calls that several of them match.
    warns : bool
        Whether loading the backends warns about it.
    severity : Severity
        How bad it is, by default a warning. Notes are not faults.
    more_keys : tuple of str
        Further keys with the same fault.
    line : int or None
        The line of the key in the file of the source; None for a finding about a whole file, and
        if no file was examined.
    is_unchecked : bool
        Whether the finding only says that something could not be checked here.
    is_absent : bool
        Whether the finding is about a module that is not installed.

    Examples
    --------
    >>> finding = Finding("there is no module 'gpu'", "Correct the name", "oil", "functions")
    >>> str(finding)
    "backend 'oil', key functions: there is no module 'gpu'. Correct the name"
    """

    message: str
    remedy: str
    backend: str | None = None
    key: str | None = None
    source: Source | None = None
    skips: bool = False
    warns: bool = True
    severity: Severity = Severity.WARNING
    more_keys: tuple[str, ...] = ()
    line: int | None = None
    is_unchecked: bool = False
    is_absent: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys with this fault."""
        return () if self.key is None else (self.key, *self.more_keys)

    @property
    def place(self) -> str:
        """The file and the line, as far as they are known; empty without a file."""
        file = (self.source and self.source.file) or ""
        return file if self.line is None else f"{file}:{self.line}"

    def __str__(self) -> str:
        more = f" and {len(self.more_keys)} more" if self.more_keys else ""
        key = f", key {self.key}{more}" if self.key else ""
        where = "" if self.source is None else str(self.source)
        if self.backend is not None:
            skipped = " is skipped" if self.skips else ""
            subject = f"backend {self.backend!r}{skipped}{f' ({where})' if where else ''}{key}"
        elif self.place:
            subject = f"{self.place}{key}"
        else:
            subject = f"environment variable {self.key}{more}" if self.key else where
        return f"{subject}{': ' if subject else ''}{ended(self.message)} {self.remedy}"


def reason_to_skip(
    message: str, remedy: str, backend: str, key: str | None = None, source: Source | None = None
) -> Finding:
    """Return an error for which the library skips the backend."""
    return Finding(message, remedy, backend, key, source, skips=True, severity=Severity.ERROR)


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
