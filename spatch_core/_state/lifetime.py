"""Observations, weak references, and the hooks of garbage collection and of the exit.

An observation lasts for as long as an observed state (`DispatchState.is_observed`) is in
force in any thread, task or other context. Leaving the block is not enough to end it: a task
that was started in the block has a copy of the context, and is observed until its context is
freed, together with the object of the task. So each block that is observed puts a mark into a
second context variable. Only contexts, and the tokens of blocks that are still to be left, refer to
a mark. When it is freed, by reference counting and without a garbage collection, that observation
has ended.

What is to be done then takes a while, and CPython discards what a signal handler raises in the
callback of a weak reference. So a block that is left exchanges that callback for one in C, and
looks afterwards whether the observation has ended. The callback in Python is for observations that
end elsewhere: with the context of a task, or when a program drops the call of a hook.
"""

from __future__ import annotations

import atexit
import gc
from _weakref import ref  # weakref itself imports much more
from contextvars import ContextVar
from types import MethodType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Token
    from typing import Any, Protocol

    class Marked(Protocol):
        """A `Scope`, as far as observations are concerned."""

        mark: Mark | None

    class Forgetful(Protocol):
        """A keeper, as far as the end of the process and a garbage collection are concerned."""

        def forget_tables(self) -> None: ...

        def forget_unreachable(self) -> None: ...


class References:
    """Objects that are not kept alive; unlike a `WeakSet` they may change while they are read.

    The objects compare by identity.
    """

    __slots__ = ("_references",)

    def __init__(self) -> None:
        self._references: dict[ref[Any], None] = {}

    def add(self, each: object) -> None:
        """Remember an object for as long as something else refers to it."""
        # A callback in C: the interpreter discards what a signal handler raises in one in Python.
        # The reference keeps its hash, for when the object is gone.
        self._references[ref(each, self._references.pop)] = None

    def alive(self) -> list[Any]:
        """Return the objects that are still there."""
        # Copied in one step, which no other thread can interrupt, and no garbage collection: on
        # CPython 3.10 and 3.11 a finalizer may change a dictionary while `dict.copy` copies it.
        found = [reference() for reference in [*self._references]]
        return [each for each in found if each is not None]


class Mark:
    """Says that an observed state is in force in a context; refers to nothing."""

    __slots__ = ("__weakref__",)


class Observations:
    """The observations of a library that last.

    Parameters
    ----------
    name : str
        Name of the context variable.

    Attributes
    ----------
    variable : contextvars.ContextVar
        The mark of the innermost observed block, or None.
    before : callable
        Called before an observation begins.
    after : callable
        Called when none is left, in any thread, and perhaps in the middle of a garbage
        collection. Another one may have begun meanwhile.
    """

    __slots__ = ("_marks", "_newest", "_settled", "after", "before", "variable")

    def __init__(self, name: str) -> None:
        self.variable: ContextVar[Mark | None] = ContextVar(name, default=None)
        self.before: Callable[[], None] = _do_nothing
        self.after: Callable[[], None] = _do_nothing
        self._marks: dict[int, ref[Mark]] = {}
        # The observation that began last, and the last one when `after` was called last.
        self._newest = self._settled = object()

    def begin(self) -> Mark:
        """Begin an observation, which lasts for as long as something refers to the mark."""
        outer = self.variable.get()
        if outer is not None:
            return outer  # it lasts until the inner block has been left, too
        mark = Mark()
        # First registered, then announced: an observation that ends in another thread
        # between the two does not undo what `before` does.
        self._watch(mark)
        self._newest = object()
        self.before()
        return mark

    def put_back(self, outer: Mark | None) -> None:
        """Put the mark from before a block in force again."""
        inner = self.variable.get()
        left = None if inner is outer else self._leaving(inner)
        del inner
        self.variable.set(outer)
        self._settle(left)

    def leave(self, token: Token[Mark | None]) -> None:
        """Put the mark in force again that the token stands for."""
        left = self._leaving(self.variable.get())
        self.variable.reset(token)
        self._settle(left)

    def drop(self, scope: Marked) -> None:
        """Let a scope have no mark any more."""
        left = self._leaving(scope.mark)
        scope.mark = None
        self._settle(left)

    def _watch(self, mark: Mark) -> None:
        key = id(mark)
        self._marks[key] = ref(mark, MethodType(self._ended, key))

    def _ended(self, key: int, _: object) -> None:
        self._marks.pop(key, None)
        self._settle()

    def _leaving(self, mark: Mark | None) -> ref[Mark] | None:
        """Let the end of an observation only be noted, in C, until `_settle` is called."""
        if mark is None:
            return None
        marks, key = self._marks, id(mark)
        left = marks[key] = ref(mark, MethodType(marks.pop, key))
        return left

    def _settle(self, left: ref[Mark] | None = None) -> None:
        """Call `after` if that is due."""
        mark = None if left is None else left()
        # Unless another thread leaves a block of the same observation, and will settle that.
        if mark is not None and self._marks.get(id(mark)) is left:
            self._watch(mark)
        newest = self._newest
        if newest is not self._settled and not self.any():
            self.after()
            # Last: it is due still if it was interrupted, or if another one has begun meanwhile.
            self._settled = newest

    def any(self) -> bool:
        """Whether there is one, in any thread or task."""
        # An interrupt may have kept `end` from removing its mark.
        # Copied as in `References.alive`.
        return any(mark() is not None for mark in [*self._marks.values()])


def _do_nothing() -> None:
    pass


_keepers = References()


def look_after(keeper: Forgetful) -> None:
    """Let a keeper forget before a full garbage collection, and at the end of the process."""
    _keepers.add(keeper)


def _before_collection(phase: str, details: dict[str, int]) -> None:
    """Let a full garbage collection see what only the tables refer to."""
    if phase == "start" and details["generation"] == 2:
        for keeper in _keepers.alive():
            keeper.forget_unreachable()


gc.callbacks.append(_before_collection)


def _before_exit() -> None:
    """Let the interpreter's last collection see what only the tables refer to.

    All of it: a module that something still refers to is not finalized, and its open files
    are not written to the end.
    """
    for keeper in _keepers.alive():
        keeper.forget_tables()


atexit.register(_before_exit)
