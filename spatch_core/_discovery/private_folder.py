"""A private folder: its files are found, read, written and removed without following links.

A file is private if it and its folder belong to this user and no other user may write to them.
The folder is opened once and checked through its handle, and files are looked up relative to the
handle. So it does no harm if another folder, or a link, takes the folder's place meanwhile.

On Windows there are no handles of folders, no owners and no modes. The folder of a user's caches
is private there by its access control list; links and junctions are recognized.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from stat import S_ISDIR, S_ISLNK, S_ISREG
from time import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

HEADER = b"spatch-core cache "
"""The start of every file."""
SUFFIX = ".cache"
"""The end of the name of every file."""
TAG = "CACHEDIR.TAG"
"""The file that says which program made the folder."""
TAG_TEXT = b"""Signature: 8a477f597d28d172789f06886806bc55
# This folder holds a cache of spatch-core. It may be removed at any time.
# See https://bford.info/cachedir/
"""
MOST_BYTES = 64 * 1024 * 1024
"""The size above which a file is neither read nor written."""

_DAY = 24 * 60 * 60
_UNUSED = 90 * _DAY  # the time without use after which a file is removed
_MOST = 100  # files in the folder
_DRAFT = ".draft"

effective_user: Any = getattr(os, "geteuid", None)
"""`os.geteuid`; None on Windows, where a user's cache folder is private by itself."""
_has_handles = os.open in os.supports_dir_fd
# Some systems lack some of these. Without O_NONBLOCK, opening a pipe would wait for a writer.
_SAFE = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_REPARSE_POINT = 0x400  # the attribute of links and junctions on Windows


class PrivateFolder:
    """A private folder, and the operations in it; all of them may raise `OSError`.

    Parameters
    ----------
    path : str
        Its path.
    handle : int or None
        Its open handle; None where the system has none.
    """

    def __init__(self, path: str, handle: int | None) -> None:
        self.path = path
        self.handle = handle

    def at(self, name: str) -> str:
        """Return the path of a file for the functions of `os`, relative to the handle if any."""
        return os.path.join(self.path, name) if self.handle is None else name

    def names(self) -> list[str]:
        return os.listdir(self.path if self.handle is None else self.handle)

    def status(self, name: str) -> os.stat_result:
        """Return the status of a file or link, without following it."""
        return os.stat(self.at(name), dir_fd=self.handle, follow_symlinks=False)

    def has(self, name: str) -> bool:
        try:
            self.status(name)
        except FileNotFoundError:
            return False
        return True

    def read(self, name: str) -> bytes | None:
        """Return the content of a private file without its header; marks it as used."""
        with self._open_private(name) as stream:
            if stream is None or stream.read(len(HEADER)) != HEADER:
                return None
            status = os.fstat(stream.fileno())
            if status.st_size > MOST_BYTES:
                return None
            if status.st_mtime < time() - _DAY:
                with suppress(OSError):  # see `remove_unused`
                    os.utime(self.at(name), dir_fd=self.handle, **self._not_followed)
            content: bytes = stream.read(status.st_size)  # the checksum detects a growing file
            return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file, replacing a file or link; anything else of that name is left alone."""
        if self.has(name):
            mode = self.status(name).st_mode
            if not (S_ISREG(mode) or S_ISLNK(mode)):
                return
        # The random name keeps processes apart; the rename is atomic. `x` refuses an existing file.
        draft = f"{name}.{os.urandom(8).hex()}{_DRAFT}"
        try:
            with open(draft, "xb", opener=self._open_new) as stream:
                stream.write(content)
            os.replace(
                self.at(draft), self.at(name), src_dir_fd=self.handle, dst_dir_fd=self.handle
            )
        except BaseException:
            with suppress(OSError):
                os.unlink(self.at(draft), dir_fd=self.handle)
            raise

    def is_own(self) -> bool:
        """Whether this package may write to the folder; an empty one gets the tag."""
        if not self.has(TAG):
            # Another process may be writing the tag, or may have been killed while writing it.
            if not all(each.startswith(f"{TAG}.") and _is_draft(each) for each in self.names()):
                return False
            self.write(TAG, TAG_TEXT)
        with self._open_private(TAG) as stream:
            return stream is not None and stream.read(len(TAG_TEXT) + 1) == TAG_TEXT

    def remove_unused(self) -> None:
        """Remove files unused for `_UNUSED`, and the least recently used beyond `_MOST`.

        A draft older than a day was left by a killed process.
        """
        now = time()
        used: list[tuple[float, str]] = []
        for name in self.names():
            if _is_own_name(name):
                with suppress(OSError):  # another process may remove it meanwhile
                    used.append((self.status(name).st_mtime, name))
        for number, (last, name) in enumerate(sorted(used, reverse=True), start=1):
            if number >= _MOST or now - last > (_DAY if _is_draft(name) else _UNUSED):
                with suppress(OSError):
                    self._remove(name)

    def _remove(self, name: str) -> None:
        with self._open_private(name) as stream:
            is_own = stream is not None and stream.read(len(HEADER)) == HEADER
        if is_own:
            os.unlink(self.at(name), dir_fd=self.handle)

    @contextmanager
    def _open_private(self, name: str) -> Iterator[Any]:
        """Open a file for reading; None unless it is a private regular file."""
        # Checked before opening, because opening a device can have an effect, and again after it,
        # because another file may have taken its place.
        if not _is_private_file(self.status(name)):
            yield None
            return
        handle = os.open(self.at(name), os.O_RDONLY | _SAFE, dir_fd=self.handle)
        with open(handle, "rb") as stream:
            yield stream if _is_private_file(os.fstat(handle)) else None

    def _open_new(self, name: str, flags: int) -> int:
        return os.open(self.at(name), flags | _SAFE, 0o600, dir_fd=self.handle)

    @property
    def _not_followed(self) -> dict[str, Any]:
        return {"follow_symlinks": False} if os.utime in os.supports_follow_symlinks else {}


@contextmanager
def opened(path: str) -> Iterator[PrivateFolder | None]:
    """Open a folder; None unless it is private and not a link."""
    if not _has_handles:
        yield PrivateFolder(path, None) if _is_private_folder(os.lstat(path)) else None
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _SAFE)
    try:
        yield PrivateFolder(path, handle) if _is_private_folder(os.fstat(handle)) else None
    finally:
        os.close(handle)


def _is_private_file(status: os.stat_result) -> bool:
    return S_ISREG(status.st_mode) and _is_private(status)


def _is_private_folder(status: os.stat_result) -> bool:
    return S_ISDIR(status.st_mode) and _is_private(status)


def _is_private(status: os.stat_result) -> bool:
    """Whether only the user can have written a file, or to a folder."""
    if effective_user is None:
        return not getattr(status, "st_file_attributes", 0) & _REPARSE_POINT
    return bool(status.st_uid == effective_user() and not status.st_mode & 0o022)


def _is_own_name(name: str) -> bool:
    """Whether the name is one that `write_private` gives to a file or its draft."""
    return name.endswith(SUFFIX) or (_is_draft(name) and f"{SUFFIX}." in name)


def _is_draft(name: str) -> bool:
    _, _, random = name.removesuffix(_DRAFT).rpartition(".")
    return name.endswith(_DRAFT) and len(random) == 16 and not random.strip("0123456789abcdef")
