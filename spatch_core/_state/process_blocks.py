"""Process-wide blocks, whose current backend replaces that of the process-wide default.

The process-wide default consists of a *base*, which the environment and programs set, and of the
backend of the newest such block. Threads enter and leave these blocks in any order, so leaving a
block removes it from a list, instead of restoring an old value.

Invariant: every change of the base or of the blocks is followed by `publish`. A thread may publish
an outdated default, because another thread has changed something meanwhile. So it checks again
afterwards, and if need be publishes again. No lock is needed, and the last change wins.

If an interrupt keeps a block from being left, it ends with the object that should have left it.
"""

from __future__ import annotations

from weakref import ref

from .state import DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .scope import Scope, Tables


class Held:
    """A block that was entered and not yet left; compared by identity."""

    __slots__ = ("backend", "owner")

    def __init__(self, backend: str | None, owner: ref[object] | None = None) -> None:
        self.backend = backend
        self.owner = owner


class ProcessBlocks:
    """The process-wide default of a library, and the blocks that are in force over it.

    Parameters
    ----------
    shared : list
        The tables of the default.
    new : callable
        Makes a scope of a state.

    Attributes
    ----------
    base : Scope
        The default without the blocks.
    """

    __slots__ = ("_held", "_known", "_new", "_shared", "base")

    def __init__(self, shared: Tables, new: Callable[[DispatchState], Scope]) -> None:
        self.base: Scope = shared[0]
        self._shared = shared
        self._new = new
        # The first item stands for the base, and is never removed.
        self._held = [Held(None)]
        # For each current backend, the scope and the base that it was made from.
        self._known: dict[str | None, tuple[Scope, Scope]] = {}

    def enter(self, backend: str, owner: object = None) -> Held:
        """Make a backend current wherever the default is in force, until `leave`.

        Parameters
        ----------
        backend : str
            The backend.
        owner : object, optional
            The object that leaves the block; the block ends with it at the latest.
        """
        # Leaving the block drops the reference, and so its callback.
        held = Held(backend, None if owner is None else ref(owner, self._leave_all_of))
        self._held.append(held)
        self.publish()
        return held

    def leave(self, held: Held) -> None:
        """Leave a block; blocks may be left in any order."""
        try:
            self._held.remove(held)
            self.publish()
        except BaseException:  # an interrupt
            self.publish()
            raise

    def _leave_all_of(self, owner: ref[object]) -> None:
        for held in [each for each in self._held if each.owner is owner]:
            self.leave(held)

    def replace_base(self, base: Scope) -> None:
        """Make another scope the base."""
        self.base = base
        self._known = {}
        self.publish()

    def publish(self) -> None:
        """Put in force the base with the newest backend; empties the tables if this is a change."""
        shared, all_held = self._shared, self._held
        while True:
            base, last = self.base, all_held[-1]
            known = self._known.get(last.backend)
            if known is None or known[1] is not base:
                known = self._known[last.backend] = self._over(base, last.backend), base
            scope = known[0]
            if shared[0] is not scope:
                shared[:] = [scope]
            # Another thread may have changed either since they were read.
            if all_held[-1] is last and self.base is base:
                return

    def _over(self, base: Scope, backend: str | None) -> Scope:
        state = base.state
        if backend is not None:
            state = DispatchState(backend=backend).within(state)
        if state.key == base.state.key:
            return base
        scope = self._new(state)
        scope.is_enabled = base.is_enabled
        scope.tables = self._shared
        return scope
