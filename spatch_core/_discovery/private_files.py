"""Private files in the user's cache folder: only the user can have written them.

They are conveniences, so that errors are ignored: a file that cannot be read counts as
absent, and failing to write is harmless.

Trust rests on three rules: a file is read only if it and its folder belong to this user and
are writable by no other; it is written under a new, random name that must not exist yet, and
then put in place in one step; and root makes no folder inside another user's, because with a
kept ``HOME`` (``sudo``) that user could no longer write to it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from stat import S_ISREG
from time import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_DAY = 24 * 60 * 60
_UNUSED = 90 * _DAY  # the age at which a file is removed: its environment is probably gone
_MOST = 100  # files in the folder

# None on Windows, where the folders of a user are private already.
_user: Any = getattr(os, "geteuid", None)


def user_folder(variables: Mapping[str, str], platform: str) -> str | None:
    """Return the folder for the user's caches; None if it cannot be known.

    Parameters
    ----------
    variables : mapping of str to str
        Usually `os.environ`.
    platform : str
        `sys.platform`.
    """
    if platform == "win32":
        folder = variables.get("LOCALAPPDATA", "")
        return folder if os.path.isabs(folder) else None
    folder = variables.get("XDG_CACHE_HOME", "")
    if os.path.isabs(folder):
        return folder
    home = variables.get("HOME")
    if home is None:
        home = os.path.expanduser("~")
    if not os.path.isabs(home) or not os.path.isdir(home):
        return None
    return os.path.join(home, *(["Library", "Caches"] if platform == "darwin" else [".cache"]))


def read_private(path: str) -> bytes | None:
    """Return the content of a file; None unless only the user can have written it."""
    try:
        status = os.lstat(path)  # not of the target of a link
        if not (
            S_ISREG(status.st_mode)
            and _is_private(status)
            and _is_private(os.stat(os.path.dirname(path)))
        ):
            return None
        if status.st_mtime < time() - _DAY:
            with suppress(OSError):
                os.utime(path)  # marks it as used; see `_remove_unused`
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None


def write_private(path: str, content: bytes) -> None:
    """Write a file, replacing the one of its name; failing to do so is harmless.

    A reader finds either the old content or the new one, also if this process is killed.
    """
    folder = os.path.dirname(path)
    draft = f"{path}.{os.urandom(8).hex()}"
    with suppress(OSError):
        _make_folder(folder)
        if not _is_private(os.stat(folder)):
            return
        if not os.path.lexists(path):
            _remove_unused(folder)
        try:
            with open(draft, "xb", opener=_open_private) as stream:
                stream.write(content)
            os.replace(draft, path)
        finally:
            with suppress(OSError):
                os.unlink(draft)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _is_private(status: os.stat_result) -> bool:
    """Whether only the user can have written a file, or to a folder."""
    return _user is None or (status.st_uid == _user() and not status.st_mode & 0o022)


def _make_folder(path: str) -> None:
    """Make a folder and its parents, unless root would do so inside another user's folder."""
    above = path
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if above == path or (_user is not None and _user() == 0 != os.stat(above).st_uid):
        return
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    os.mkdir(path, 0o700)


def _remove_unused(folder: str) -> None:
    """Remove the files of old environments, and the oldest of too many, before one is added."""
    oldest = time() - _UNUSED
    used: list[tuple[float, str]] = []
    with os.scandir(folder) as files:
        for each in files:
            with suppress(OSError):  # another process may remove it meanwhile
                used.append((each.stat(follow_symlinks=False).st_mtime, each.path))
    for number, (last, path) in enumerate(sorted(used, reverse=True), start=1):
        if number >= _MOST or last < oldest:
            with suppress(OSError):
                os.unlink(path)
