"""Replaces the content of a file atomically, by a draft that is renamed.

- A process that is killed leaves either the old content or the new one.
- Content that another process has saved in the meantime is not replaced. The comparison comes
  directly before the call that renames the draft.
- Owner, group, permissions, extended attributes and hard links of the file stay. If a draft cannot
  have the owner, or the file has several hard links, the file itself is overwritten, and a failure
  puts the old content back. This case is not atomic.
- On Linux, a draft has no name until it is complete. A draft with a name is locked by its process;
  the next update removes drafts that are not locked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from stat import S_IMODE, S_ISREG
from time import time
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

_BINARY = getattr(os, "O_BINARY", 0)  # only on Windows
_DRAFT = r"\.[0-9a-f]{16}\.spatch-core-draft"
_DAY = 24 * 60 * 60


class ChangedMeanwhileError(Exception):
    """The content of the file is not the expected one."""


class _OwnerError(Exception):
    """A draft cannot get the owner of the file."""


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
        if os.fstat(old.fileno()).st_nlink == 1:
            with suppress(_OwnerError), _draft(path, after, old) as draft:
                if path.read_bytes() != before:
                    raise ChangedMeanwhileError
                os.replace(draft, path)
                return
        if old.read() != before:
            raise ChangedMeanwhileError
        try:
            _overwrite(old, after)
        except BaseException:
            with suppress(OSError):
                _overwrite(old, before)
            raise


def remove_drafts(path: Path) -> None:
    """Remove the drafts of a file that killed processes have left."""
    pattern = re.compile(re.escape(f".{path.name}") + _DRAFT)
    with suppress(OSError):
        for name in os.listdir(path.parent):
            if pattern.fullmatch(name):
                with suppress(OSError):
                    _remove_draft(path.parent / name)


def _remove_draft(path: Path) -> None:
    status = path.lstat()
    if not S_ISREG(status.st_mode):
        return
    if fcntl is None:
        if time() - status.st_mtime > _DAY:
            path.unlink()
        return
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process runs
        path.unlink()
    finally:
        os.close(handle)


@contextmanager
def _draft(path: Path, content: bytes, old: FileIO) -> Iterator[str]:
    """Write a draft with the owner and the permissions of a file; remove it at the end."""
    name = str(path.with_name(f".{path.name}.{os.urandom(8).hex()}.spatch-core-draft"))
    handle = _write_unnamed(name, content, old)
    try:
        if handle is None:
            handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
            _fill(handle, content, old)
        if fcntl is None:  # Windows cannot rename an open file
            os.close(handle)
            handle = None
        yield name
    finally:
        if handle is not None:
            os.close(handle)
        with suppress(OSError):
            os.unlink(name)


def _write_unnamed(name: str, content: bytes, old: FileIO) -> int | None:
    """Write a draft that gets its name when it is complete; return None if that fails."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    handle = None
    try:
        handle = os.open(os.path.dirname(name), os.O_TMPFILE | os.O_RDWR, 0o600)
        _fill(handle, content, old)
        # With `src_dir_fd`, Python calls linkat(2), which follows the link to the nameless file.
        os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=handle)
    except BaseException as error:
        if handle is not None:
            os.close(handle)
        if isinstance(error, OSError):
            return None
        raise
    return handle


def _fill(handle: int, content: bytes, old: FileIO) -> None:
    """Lock a draft, and give it content, and the owner and the permissions of a file."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX)
    with open(handle, "wb", closefd=False) as stream:
        stream.write(content)
    if fcntl is not None:
        wanted, given = os.fstat(old.fileno()), os.fstat(handle)
        if (wanted.st_uid, wanted.st_gid) != (given.st_uid, given.st_gid):
            try:
                os.fchown(handle, wanted.st_uid, wanted.st_gid)
            except PermissionError:
                raise _OwnerError from None
        os.fchmod(handle, S_IMODE(wanted.st_mode))
        _copy_attributes(old.fileno(), handle)
    os.fsync(handle)


def _copy_attributes(source: int, target: int) -> None:
    """Copy the extended attributes of a file, such as its access control list."""
    if hasattr(os, "listxattr"):  # only on Linux
        with suppress(OSError):  # the file system may not have any
            for name in os.listxattr(source):
                with suppress(OSError):  # some attributes are reserved for root
                    os.setxattr(target, name, os.getxattr(source, name))


def _overwrite(stream: FileIO, content: bytes) -> None:
    stream.seek(0)
    position = 0
    while position < len(content):  # an unbuffered stream may write only a part
        position += stream.write(content[position:])
    stream.truncate()
    os.fsync(stream.fileno())
