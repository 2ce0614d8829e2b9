"""Private files in the user's cache folder: only the user can have written them.

They are conveniences, so that errors are ignored: a file that cannot be read counts as
absent, and failing to write is harmless.

A file is read only if it and its folder are private, and neither is a link. It is written under a
new, random name, and then put in place in one step, in a folder that this package made: an empty
one, or one with its tag. Files are removed only there, and only if both their name and their
header are those of this package. Root makes no folder inside another user's, because with a kept
``HOME`` (``sudo``) that user could no longer write to it.
"""

from __future__ import annotations

import os
from contextlib import suppress

from .._interrupts import is_interrupt
from .private_folder import HEADER, MOST_BYTES, effective_user, opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


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
    """Return what follows the header of a file; None unless only the user can have written it."""
    try:
        with opened(os.path.dirname(path)) as folder:
            return None if folder is None else folder.read(os.path.basename(path))
    except (OSError, ValueError) as error:
        if is_interrupt(error):  # a `TimeoutError`
            raise
        return None


def write_private(path: str, content: bytes) -> None:
    """Write a file with the header, replacing the one of its name; failing is harmless.

    A reader finds either the old content or the new one, also if this process is killed.
    """
    parent, name = os.path.split(path)
    if len(content) + len(HEADER) > MOST_BYTES:
        return
    try:
        _make_folder(parent)
        with opened(parent) as folder:
            if folder is not None and folder.is_own():
                if not folder.has(name):
                    folder.remove_unused()
                folder.write(name, HEADER + content)
    except (OSError, ValueError) as error:
        if is_interrupt(error):
            raise


def _make_folder(path: str) -> None:
    """Make a folder and its parents, unless root would do so inside another user's folder."""
    above, missing = path, []
    while not os.path.lexists(above):
        missing.append(above)
        above = os.path.dirname(above)
    is_root = effective_user is not None and effective_user() == 0
    if above == path or (is_root and os.stat(above).st_uid != 0):
        return
    # `os.makedirs` calls itself for each, and some variables name a thousand.
    for each in reversed(missing):
        with suppress(FileExistsError):  # another process was faster
            os.mkdir(each, 0o700)
