"""Private files in the user's cache folder: only the user can have written them.

They only save time, so errors are ignored: a file that cannot be read counts as absent, and failing
to write is harmless.

A file is read only if it and its folder are private, and neither is a link. It is written under a
random name, and then renamed atomically, in a folder that belongs to this package: it was empty, or
has the package's tag. Only files with the package's names and header are removed from it. Root
makes no folder inside another user's: if ``sudo`` keeps ``HOME``, that user could not write to it.
"""

from __future__ import annotations

import os
from contextlib import suppress

from .private_folder import HEADER, MOST_BYTES, effective_user, opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def user_folder(variables: Mapping[str, str], platform: str) -> str | None:
    """Return the folder for the user's caches; None if it is unknown.

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
    """Return the content after the header; None unless only the user can have written the file."""
    try:
        with opened(os.path.dirname(path)) as folder:
            return None if folder is None else folder.read(os.path.basename(path))
    except (OSError, ValueError):
        return None


def write_private(path: str, content: bytes) -> None:
    """Write or replace a file, with the header; failing is harmless.

    A reader finds either the old content or the new one, even if this process is killed.
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
    except (OSError, ValueError):
        pass


def _make_folder(path: str) -> None:
    """Make a folder and its parents, unless root would do so inside another user's folder."""
    above, missing = path, []
    while not os.path.lexists(above):
        missing.append(above)
        above = os.path.dirname(above)
    is_root = effective_user is not None and effective_user() == 0
    if above == path or (is_root and os.stat(above).st_uid != 0):
        return
    # `os.makedirs` is recursive, and a variable may name a thousand nested folders.
    for each in reversed(missing):
        with suppress(FileExistsError):  # another process was faster
            os.mkdir(each, 0o700)
