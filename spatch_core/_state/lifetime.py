"""Observations, weak references, and the hooks for garbage collection and exit.

An observation lasts as long as an observed state (`DispatchState.is_observed`) is in force in
any thread, task or other context. Leaving the block does not always end it: a task that was
started in the block has a copy of the context, and is observed until its context is freed,
together with the task object. So each observed block puts a mark into a second context variable.
Only contexts, and the tokens of blocks that are still to be left, refer to a mark. The observation
has ended when its mark is freed, by reference counting, without a garbage collection.

The work at that point takes a while, and CPython discards exceptions that a signal handler raises
in the callback of a weak reference. So leaving a block exchanges that callback for one in C, and
checks afterwards whether the observation has ended. The callback in Python is for observations that
end elsewhere: with the context of a task, or when a program drops the call of a hook.
"""

from __future__ import annotations

import atexit
import gc
from _weakref import ref  # weakref itself imports much more
from types import MethodType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import ContextVar, Token
    from typing import Any, Protocol

    class Marked(Protocol):
        """A `Scope`, as far as observations are concerned."""

        mark: Mark | None

    class Forgetful(Protocol):
        """A keeper, as far as the end of the process and a garbage collection are concerned."""

        def forget_tables(self) -> None: ...

        def forget_unreachable(self) -> None: ...

else:
    from _contextvars import ContextVar  # contextvars itself takes longer to import


class References:
    """Weak references to objects, compared by identity.

    Unlike a `WeakSet`, it may change while it is read.
    """

    __slots__ = ("_references",)

    def __init__(self) -> None:
        self._references: dict[ref[Any], None] = {}

    def add(self, each: object) -> None:
        """Remember an object for as long as something else refers to it."""
        # The callback is in C, because in one in Python an interrupt would be lost. The hash of
        # the reference is computed here, and stays valid when the object is gone.
        self._references[ref(each, self._references.pop)] = None

    def alive(self) -> list[Any]:
        """Return the objects that are still alive."""
        # Copied in one atomic step. `dict.copy` is not atomic on CPython 3.10 and 3.11: it may
        # start a garbage collection, in which a finalizer may change the dictionary.
        found = [reference() for reference in [*self._references]]
        return [each for each in found if each is not None]


class Mark:
    """Marks a context in which an observed state is in force; refers to nothing."""

    __slots__ = ("__weakref__",)


class Observations:
    """The observations of a library that are going on.

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
        Called when no observation is left; in any thread, possibly during a garbage collection.
        Another observation may have begun meanwhile.
    """

    __slots__ = ("_marks", "_newest", "_settled", "after", "before", "variable")

    def __init__(self, name: str) -> None:
        self.variable: ContextVar[Mark | None] = ContextVar(name, default=None)
        self.before: Callable[[], None] = _do_nothing
        self.after: Callable[[], None] = _do_nothing
        self._marks: dict[int, ref[Mark]] = {}
        # Tokens of the newest observation: now, and at the last call of `after`.
        self._newest = self._settled = object()

    def begin(self) -> Mark:
        """Begin an observation, which lasts as long as something refers to the mark."""
        outer = self.variable.get()
        if outer is not None:
            return outer  # the outer observation goes on in the inner block
        mark = Mark()
        # Registered before `before` is called: otherwise the end of another observation, in
        # another thread, could call `after` and undo it.
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
        """Put the mark from before a token in force again."""
        left = self._leaving(self.variable.get())
        self.variable.reset(token)
        self._settle(left)

    def drop(self, scope: Marked) -> None:
        """Remove the mark of a scope."""
        left = self._leaving(scope.mark)
        scope.mark = None
        self._settle(left)

    def _watch(self, mark: Mark) -> None:
        key = id(mark)
        # A method of a method: the callback calls `_ended(key, reference)`.
        self._marks[key] = ref(mark, MethodType(self._ended, key))

    def _ended(self, key: int, _: object) -> None:
        self._marks.pop(key, None)
        self._settle()

    def _leaving(self, mark: Mark | None) -> ref[Mark] | None:
        """Let a callback in C note the end of an observation; `_settle` then does the rest."""
        if mark is None:
            return None
        marks, key = self._marks, id(mark)
        # Calls `pop(key, reference)`; the reference is merely the default value.
        left = marks[key] = ref(mark, MethodType(marks.pop, key))
        return left

    def _settle(self, left: ref[Mark] | None = None) -> None:
        """Call `after` if no observation is left."""
        mark = None if left is None else left()
        # If the observation goes on elsewhere, it needs its callback in Python again. If `left` was
        # replaced, another thread is leaving a block of this observation, and will see to that.
        if mark is not None and self._marks.get(id(mark)) is left:
            self._watch(mark)
        newest = self._newest
        if newest is not self._settled and not self.any():
            self.after()
            # Set last: if `after` was interrupted, or another observation has begun meanwhile,
            # another call is due.
            self._settled = newest

    def any(self) -> bool:
        """Whether an observation is going on, in any thread or task."""
        # A dead reference may still be there, because an interrupt stopped `_ended`.
        # Copied as in `References.alive`.
        return any(mark() is not None for mark in [*self._marks.values()])


def _do_nothing() -> None:
    pass


_keepers = References()


def look_after(keeper: Forgetful) -> None:
    """Let a keeper forget entries before a full garbage collection and at exit."""
    _keepers.add(keeper)


def _before_collection(phase: str, details: dict[str, int]) -> None:
    """Before a full garbage collection, drop entries that alone keep classes or functions alive.

    Tables refer to classes strongly, so that lookups are fast. Without this, a local class would
    live as long as the tables that it is in.
    """
    if phase == "start" and details["generation"] == 2:
        for keeper in _keepers.alive():
            keeper.forget_unreachable()


gc.callbacks.append(_before_collection)


def _before_exit() -> None:
    """Empty all tables at exit, before the interpreter's last garbage collection.

    Otherwise, a module that a table refers to would not be finalized, and its open files not
    flushed.
    """
    for keeper in _keepers.alive():
        keeper.forget_tables()


atexit.register(_before_exit)
