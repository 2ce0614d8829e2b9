"""Replaces the content of a file by a draft that is renamed.

- A process that is killed leaves either the old content or the new one. It may leave the draft,
  which the next update replaces.
- Content that another process has saved in the meantime is not replaced. The last comparison comes
  directly before the call that renames the draft.
- Owner, group, permissions, extended attributes and hard links of the file stay. If a draft cannot
  have the owner, or the file has several hard links, the file itself is overwritten, and a failure
  puts the old content back. This case is not atomic.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None


class ChangedMeanwhileError(Exception):
    """The content of the file is not the expected one."""


def replace_content(path: Path, before: bytes, after: bytes) -> None:
    """Replace the content of a file.

    Parameters
    ----------
    path : Path
        The file; not a symbolic link.
    before : bytes
        The expected content.
    after : bytes
        The new content.

    Raises
    ------
    ChangedMeanwhileError
        If the content is not `before`; it stays.
    OSError
        If the file cannot be written; its content stays.
    """
    # Opened for writing: renaming would replace a read-only file in a writable folder.
    with open(path, "r+b", buffering=0) as old:
        if fcntl is not None:
            with suppress(OSError):  # the file system may not have locks
                fcntl.flock(old, fcntl.LOCK_EX)
        # An update that had the lock before may have put another file in its place.
        _expect(path, before)
        if os.fstat(old.fileno()).st_nlink > 1 or not _replace(path, before, after, old):
            _overwrite(old, before, after)


def _replace(path: Path, before: bytes, after: bytes, old: FileIO) -> bool:
    """Rename a draft; return False if it cannot have the owner of the file."""
    # One that is there is left by a killed process: a running one has the lock.
    draft = path.with_name(f".{path.name}.spatch-core-draft")
    draft.unlink(missing_ok=True)
    try:
        with open(draft, "xb", opener=_open_private) as stream:
            stream.write(after)
            stream.flush()
            if not _give_to_owner(stream.fileno(), os.fstat(old.fileno())):
                return False
            shutil.copystat(path, draft)
            os.utime(draft)
            os.fsync(stream.fileno())
        _expect(path, before)
        os.replace(draft, path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return True


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _give_to_owner(handle: int, status: os.stat_result) -> bool:
    given = os.fstat(handle)
    if (status.st_uid, status.st_gid) != (given.st_uid, given.st_gid):
        try:
            os.fchown(handle, status.st_uid, status.st_gid)
        except PermissionError:
            return False
    return True


def _expect(path: Path, content: bytes) -> None:
    if path.read_bytes() != content:
        raise ChangedMeanwhileError


def _overwrite(old: FileIO, before: bytes, after: bytes) -> None:
    try:
        _write(old, after)
    except BaseException:
        with suppress(OSError):
            _write(old, before)
        raise


def _write(stream: FileIO, content: bytes) -> None:
    stream.seek(0)
    position = 0
    while position < len(content):  # an unbuffered stream may write only a part
        position += stream.write(content[position:])
    stream.truncate()
    os.fsync(stream.fileno())
