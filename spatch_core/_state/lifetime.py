"""Weak references to the scopes of a library; the hooks for garbage collection, forks and exit."""

from __future__ import annotations

import atexit
import gc
import os
from _thread import RLock  # threading itself imports much more
from _weakref import ref  # weakref itself imports much more

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Forgetful(Protocol):
        """A keeper, as far as forks, the end of the process and garbage collections concern it."""

        replacing: RLock

        def forget_tables(self) -> None: ...

        def forget_unreachable(self) -> None: ...


class References:
    """Weak references to objects, compared by identity.

    Unlike a `WeakSet`, it may change while it is read.
    """

    __slots__ = ("_references",)

    def __init__(self) -> None:
        self._references: dict[ref[Any], None] = {}

    def add(self, each: object) -> None:
        """Remember an object for as long as something else refers to it."""
        # The hash of the reference is computed here, and stays valid when the object is gone.
        self._references[ref(each, self._references.pop)] = None

    def alive(self) -> list[Any]:
        """Return the objects that are still alive."""
        # Copied in one atomic step. `dict.copy` is not atomic on CPython 3.10 and 3.11: it may
        # start a garbage collection, in which a finalizer may change the dictionary.
        found = [reference() for reference in [*self._references]]
        return [each for each in found if each is not None]


_keepers = References()


def look_after(keeper: Forgetful) -> None:
    """Let a keeper forget entries before a full collection and at exit, and outlive forks."""
    _keepers.add(keeper)


def _before_collection(phase: str, details: dict[str, int]) -> None:
    """Before a full garbage collection, drop entries that alone keep classes alive.

    Tables refer to classes strongly, so that lookups are fast. Without this, a local class would
    live as long as the tables that it is in.
    """
    if phase == "start" and details["generation"] == 2:
        for keeper in _keepers.alive():
            keeper.forget_unreachable()


gc.callbacks.append(_before_collection)


def _after_fork() -> None:
    """Make new locks in the child of a fork: another thread of the parent may have held the old."""
    for keeper in _keepers.alive():
        keeper.replacing = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _before_exit() -> None:
    """Empty all tables at exit, before the interpreter's last garbage collection.

    Otherwise, a module that a table refers to would not be finalized, and its open files not
    flushed.
    """
    for keeper in _keepers.alive():
        keeper.forget_tables()


atexit.register(_before_exit)
