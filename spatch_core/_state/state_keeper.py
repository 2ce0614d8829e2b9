"""Keeps which scope is in force: the context variable, the default, and a cache of scopes.

The cache `StateKeeper._known` maps `DispatchState.key` to the scope. It holds no scopes of
traces and hooks, and at most `MAX_SCOPES` others; then it is emptied. Emptying it is harmless:
scopes that are in force somewhere stay alive, and stay among the live references, by which changes
of the backends reach them.

A signal handler may raise between any two instructions. So code that puts a scope in force for a
call first reads what is in force, and restores it afterwards, twice if it is interrupted::

    held = keeper.held()
    try:
        keeper.put(scope)
        return function()
    finally:
        try:
            keeper.put_back(*held)
        except BaseException:  # an interrupt
            keeper.put_back(*held)
            raise

A token of the variable would not suffice: an interrupt may lose it before it is stored, and it
works only once. Hot paths use a token because it is faster; without one, they set the old value.
"""

from __future__ import annotations

from .._classes import is_importable
from .._locks import Turn
from .lifetime import Observations, References, look_after
from .scope import Scope
from .state import DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from contextvars import ContextVar, Token
    from typing import TypeAlias

    from .lifetime import Mark
    from .scope import Tables

    # What `enter` returns; the mark's token comes first if the state is observed.
    Entered: TypeAlias = Token[Tables] | tuple[Token[Mark | None], Token[Tables]]
else:
    from _contextvars import ContextVar  # contextvars itself takes longer to import

MAX_SCOPES = 256
"""How many scopes are cached before all are forgotten."""


_EVERYTHING = range(1, 1 << 62)
"""All indices of functions."""


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
    observe : callable
        Puts a mark in force; see `observations`.
    observations : Observations
        The observations that are going on.
    replacing : Turn
        Lets one thread at a time replace the process-wide default.
    strays : callable
        Returns the indices of functions that only the tables may keep alive; None for all.
    on_new_state : callable
        Called with each new state before it is in force, because it may activate a backend that no
        other state does.
    """

    def __init__(self, name: str) -> None:
        default = Scope(DispatchState())
        # The value of contexts without a scope of their own. It stays the same list; item 0 is
        # the process-wide default.
        self._shared = default.tables
        self.replacing = Turn()
        self.variable: ContextVar[Tables] = ContextVar(name, default=self._shared)
        self.get: Callable[[], Tables] = self.variable.get
        self.set: Callable[[Tables], Token[Tables]] = self.variable.set
        self.observations = Observations(f"{name} observed")
        self.observe: Callable[[Mark | None], object] = self.observations.variable.set
        self.strays: Callable[[], Container[int] | None] = frozenset
        self.on_new_state: Callable[[DispatchState], None] = _do_nothing
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
        if state.is_observed and not state.is_plain:
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
        # Added first: a thread that looks for active backends in between must see it.
        self._live.add(scope)
        self.on_new_state(state)
        return scope

    def states(self) -> list[DispatchState]:
        """Return all states that are or may be in force."""
        return [scope.state for scope in self._live.alive()]

    def enter(self, scope: Scope) -> Entered:
        """Put a scope in force here and now; return the tokens for `leave`."""
        if not scope.is_observed:
            return self.variable.set(scope.tables)
        # The mark must be in force before the scope is, and until it no longer is.
        marked = self.observations.variable.set(self.observations.begin())
        return marked, self.variable.set(scope.tables)

    def leave(self, entered: Entered) -> None:
        """Restore what was in force before `enter`.

        Raises
        ------
        ValueError, RuntimeError
            If it was not entered in this context, or was left already; then nothing changes.
        """
        if isinstance(entered, tuple):
            marked, token = entered
            self.variable.reset(token)
            self.observations.leave(marked)
        else:
            self.variable.reset(entered)

    def held(self) -> tuple[Tables, Mark | None]:
        """Return what is in force here and now, for `put_back` in this or another context."""
        return self.get(), self.observations.variable.get()

    def put(self, scope: Scope) -> None:
        """Put a scope in force here; the module's docstring shows how to restore the old one."""
        if scope.is_observed:
            self.observe(self.observations.begin())
        self.set(scope.tables)

    def put_back(self, tables: Tables, mark: Mark | None) -> None:
        """Put in force what `held` has returned."""
        self.set(tables)
        self.observations.put_back(mark)

    def is_own(self) -> bool:
        """Whether this context has a scope of its own, instead of the process-wide default."""
        return self.get() is not self._shared

    def follow_default(self) -> None:
        """Let this context follow the process-wide default, also when that changes."""
        self.variable.set(self._shared)

    def put_default(self, scope: Scope) -> None:
        """Make a scope the process-wide default; in a turn of `replacing`."""
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
        strays = self.strays()
        for scope in self._live.alive():
            scope.forget_unreachable(_EVERYTHING if strays is None else strays)


def _do_nothing(_: DispatchState) -> None:
    pass
