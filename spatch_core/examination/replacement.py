"""Replaces the content of a file, by way of a draft beside it.

- The content is replaced in one step: a process that is killed leaves the old or the new one.
- Content that was saved meanwhile is not replaced. It is compared right before that step; between
  the two there is nothing but the call that renames the draft.
- Owner, group, permissions, extended attributes and other names (hard links) of the file stay. A
  new file cannot have several names, or another user as its owner; then the file itself is written,
  and the old content is put back if that fails. A process that is killed at this moment leaves a
  part.
- A draft has no name while it is written, where the system can do that (Linux). One that has a
  name is locked by its process; the next update removes those that are not.
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

_BINARY = getattr(os, "O_BINARY", 0)  # Windows alone has it
_DRAFT = r"\.[0-9a-f]{16}\.spatch-core-draft"
_DAY = 24 * 60 * 60


class ChangedMeanwhileError(Exception):
    """The file has other content than before."""


class _OwnerError(Exception):
    """A draft cannot have the owner of the file."""


def replace_content(path: Path, before: bytes, after: bytes) -> None:
    """Replace the content of a file.

    Parameters
    ----------
    path : Path
        The file; not a link.
    before : bytes
        The content that is to be replaced.
    after : bytes
        The new content.

    Raises
    ------
    ChangedMeanwhileError
        If the file has other content than `before`; it stays.
    OSError
        If the file cannot be written; it stays as it is.
    """
    with open(path, "r+b", buffering=0) as old:  # a read-only file may be in a writable folder
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
    """Remove the drafts of a file that processes left when they were killed."""
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
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process is alive
        path.unlink()
    finally:
        os.close(handle)


@contextmanager
def _draft(path: Path, content: bytes, old: FileIO) -> Iterator[str]:
    """Write a draft with the owner and the permissions of a file; it is removed at the end."""
    name = str(path.with_name(f".{path.name}.{os.urandom(8).hex()}.spatch-core-draft"))
    handle = _write_unnamed(name, content, old)
    try:
        if handle is None:
            handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
            _fill(handle, content, old)
        if fcntl is None:  # Windows renames no file that is open
            os.close(handle)
            handle = None
        yield name
    finally:
        if handle is not None:
            os.close(handle)
        with suppress(OSError):
            os.unlink(name)


def _write_unnamed(name: str, content: bytes, old: FileIO) -> int | None:
    """Write a draft that gets its name at the end; None where the system cannot do that."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    handle = None
    try:
        handle = os.open(os.path.dirname(name), os.O_TMPFILE | os.O_RDWR, 0o600)
        _fill(handle, content, old)
        # With `src_dir_fd`, the link is followed to the file that it stands for.
        os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=handle)
    except BaseException as error:
        if handle is not None:
            os.close(handle)
        if isinstance(error, OSError):
            return None
        raise
    return handle


def _fill(handle: int, content: bytes, old: FileIO) -> None:
    """Lock a draft, and give it the content, and the owner and the permissions of a file."""
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
    if hasattr(os, "listxattr"):  # Linux alone has it
        with suppress(OSError):  # not all file systems have them
            for name in os.listxattr(source):
                with suppress(OSError):  # some are for root alone
                    os.setxattr(target, name, os.getxattr(source, name))


def _overwrite(stream: FileIO, content: bytes) -> None:
    stream.seek(0)
    position = 0
    while position < len(content):  # an unbuffered file may take less than all
        position += stream.write(content[position:])
    stream.truncate()
    os.fsync(stream.fileno())
