"""Keeps which scope is in force: the context variable, the default, and a cache of scopes.

The cache `StateKeeper._known` maps `DispatchState.key` to the scope. It holds no scopes of
traces and hooks, and at most `MAX_SCOPES` others; then it is emptied. Emptying it is harmless:
scopes that are in force somewhere stay alive, and stay among the live references, by which changes
of the backends reach them.

Code that puts a scope in force for a call reads what is in force, and restores it afterwards::

    before = keeper.get()
    keeper.put(scope)
    try:
        return function()
    finally:
        keeper.set(before)

Unlike a token, this also works in another context than that in which it began.
"""

from __future__ import annotations

from _thread import RLock  # threading itself imports much more

from .._patterns import is_importable
from .lifetime import References, look_after
from .scope import Scope
from .state import DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import ContextVar, Token

    from .scope import Tables
else:
    from _contextvars import ContextVar  # contextvars itself takes longer to import

MAX_SCOPES = 256
"""How many scopes are cached before all are forgotten."""


class StateKeeper:
    """A library's dispatch state: the context variable and the process-wide default.

    Parameters
    ----------
    name : str
        Name of the context variable.

    Attributes
    ----------
    variable : contextvars.ContextVar
        Holds the tables in force.
    get, set : callable
        The methods of `variable`.
    replacing : RLock
        Held while the process-wide default is replaced.
    """

    def __init__(self, name: str) -> None:
        default = Scope(DispatchState())
        # The value of contexts without a scope of their own. It stays the same list; item 0 is
        # the process-wide default.
        self._shared = default.tables
        self.replacing = RLock()
        self.variable: ContextVar[Tables] = ContextVar(name, default=self._shared)
        self.get: Callable[[], Tables] = self.variable.get
        self.set: Callable[[Tables], Token[Tables]] = self.variable.set
        self._known: dict[tuple[object, ...], Scope] = {}
        # Weak, because strong references would make the bounds of the caches pointless.
        self._live = References()
        self._live.add(default)
        look_after(self)

    @property
    def default(self) -> Scope:
        """The process-wide default."""
        scope: Scope = self._shared[0]
        return scope

    @property
    def enabled_globally(self) -> bool:
        """Whether a program has changed the default."""
        return self.default.is_enabled

    def current(self) -> DispatchState:
        """Return the state in force here and now."""
        state: DispatchState = self.get()[0].state
        return state

    def scope(self, state: DispatchState) -> Scope:
        """Return a scope of a state, whose tables may be filled already."""
        if state.trace is not None or state.hook is not None:
            return self.new(state)
        # The key has the `id` of a class. A cached scope keeps its class alive, so that no other
        # class can have this `id`.
        key = state.key
        scope = self._known.get(key)
        if scope is None:
            if len(self._known) >= MAX_SCOPES:
                self._known.clear()
                self.forget_inner()
            scope = self._known[key] = self.new(state)
        return scope

    def inside(self, outer: Scope, options: DispatchState) -> Scope:
        """Return the scope of a block of these options inside `outer`."""
        scope = outer.inner.get(options)
        if scope is None:
            scope = self.scope(options.within(outer.state))
            if options.is_plain:
                outer.keep_inner(options, scope)
        return scope

    def new(self, state: DispatchState) -> Scope:
        """Return a new scope of a state; its tables are empty."""
        scope = Scope(state)
        self._live.add(scope)
        return scope

    def put(self, scope: Scope) -> None:
        """Put a scope in force here; the module's docstring shows how to restore the old one."""
        self.set(scope.tables)

    def is_own(self) -> bool:
        """Whether this context has a scope of its own, instead of the process-wide default."""
        return self.get() is not self._shared

    def follow_default(self) -> None:
        """Let this context follow the process-wide default, also when that changes."""
        self.variable.set(self._shared)

    def put_default(self, scope: Scope) -> None:
        """Make a scope the process-wide default; while `replacing` is held."""
        scope.tables = self._shared
        # Replaces the default and drops its tables in one atomic step.
        self._shared[:] = [scope]

    def forget_inner(self) -> None:
        """Forget the inner scopes of all scopes, so that unused ones are freed."""
        for scope in self._live.alive():
            scope.inner.clear()

    def forget_tables(self) -> None:
        """Empty the tables of every scope, because the rules that filled them have changed."""
        for scope in self._live.alive():
            scope.forget()

    def forget_unreachable(self) -> None:
        """Drop entries that may be the only references to a class or function."""
        # This runs during a garbage collection; other threads may change the cache meanwhile.
        for key, scope in self._known.copy().items():
            if scope.state.type is not None and not is_importable(scope.state.type):
                self._known.pop(key, None)
        for scope in self._live.alive():
            scope.forget_unreachable()
