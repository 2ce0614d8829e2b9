"""What is in force here and now: the dispatch state, its scopes, and the process-wide default.

`DispatchState` is one value for all options. A `Scope` is a state with the tables that are filled
under it. The value of a library's context variable is a scope's `tables`, a plain list: item 0 is
the `Scope`, item ``i`` is the table of function ``i``. A table is nested plain dictionaries, one
level for each dispatch argument, from the arguments' classes to the callable. Generated code and C
read the list without a lock, so it must stay a plain list of plain dictionaries. `StateKeeper`
has the variable and the list of the default.

========  ==========================  ===================  ==========================
cache     key                         value                bound
========  ==========================  ===================  ==========================
tables    function, classes of the    callable             `MAX_ENTRIES` a function
          dispatch arguments
decisions function, dispatch types    `_decide.Decision`   `MAX_ENTRIES` a function
inner     options of a block          scope of the block   `MAX_INNER` a scope
_known    `DispatchState.key`         scope                `MAX_SCOPES` a library
========  ==========================  ===================  ==========================

Tables and decisions are cleared together: by `Scope.forget`, because the backends have changed, a
class was registered, or a full garbage collection begins; and by `Scope.make_room`, because a table
is full. To forget scopes is harmless: those in force somewhere stay alive.

Invariant for threads: a thread that makes a decision first gets the dictionary that it will put the
decision into, and only then reads the rules. To forget decisions, the dictionaries are exchanged,
not just cleared. So decisions by old rules land in a discarded dictionary.
"""

from __future__ import annotations

import atexit
import gc
import os
from _thread import RLock  # threading itself imports much more
from _weakref import ref  # weakref itself imports much more

from ._wrapper import Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextvars import ContextVar, Token
    from typing import Any, TypeAlias

    from ._explain import Trace
    from ._function import Function

    Class = type  # where a parameter or a property is called `type`
    Tables: TypeAlias = list[Any]
    # `_hooked` says what a hook is called with.
    AnyHook: TypeAlias = Callable[[Any], Any]
    Stages: TypeAlias = tuple[tuple[AnyHook, Tables], ...]
else:
    from _contextvars import ContextVar  # contextvars itself takes longer to import

NAMES = ("prioritize", "disable", "type", "trace", "fallback", "backend", "hook")
"""All options, as users write them."""

CURRENT = ""
"""Stands for the current backend among prioritized names; never the name of a backend."""

MAX_EARLIER = 32
"""How many formerly current backends a state remembers."""

MAX_ENTRIES = 1024
"""How many combinations of types a table may hold before it is emptied."""

MAX_INNER = 256
"""How many inner scopes a scope may know before it forgets them."""

MAX_SCOPES = 256
"""How many scopes a library caches before all are forgotten."""


class DispatchState:
    """Options in force somewhere, or those of a block: in force inside it if no others are.

    It is never changed. Two states with the same options are different keys of a dictionary:
    hashing by identity is fast, and runs no code of a metaclass. `key` compares them by value.
    """

    # The first four are made of ``prioritize``, ``disable`` and ``backend``. Each other field is an
    # option, and None unless that is given.
    __slots__ = ("disabled", "earlier", "places", "prioritized", *NAMES[2:])

    def __init__(
        self,
        prioritized: tuple[str, ...] = (),
        disabled: frozenset[str] = frozenset(),
        type: Class | None = None,
        trace: Trace | None = None,
        fallback: str | None = None,
        backend: str | None = None,
        earlier: tuple[str, ...] = (),
        hook: tuple[AnyHook, ...] | None = None,
    ) -> None:
        places = prioritized
        if backend is not None:
            if CURRENT not in places:
                places = (*places, CURRENT)
            names = dict.fromkeys([each or backend for each in places])
            if backend in disabled:
                del names[backend]
            prioritized = tuple(names)
        # The foremost first; `places` has `CURRENT` where `prioritized` has the current backend.
        self.places = places
        self.prioritized = prioritized
        self.disabled = disabled
        self.type = type
        self.trace = trace
        self.fallback = fallback
        self.backend = backend
        self.earlier = earlier  # the backends that were current before, the latest first
        self.hook = hook  # the innermost first

    def within(self, outer: DispatchState) -> DispatchState:
        """Return the state inside a block of these options, with `outer` in force around it."""
        # Names of inner blocks go first. This holds for `CURRENT`, too: the innermost block that
        # has a current backend determines its place.
        names = dict.fromkeys((*self.places, *outer.places))
        backend, earlier = outer.backend, outer.earlier
        if self.backend is not None and self.backend != backend:
            earlier = remembered(backend, earlier)
            backend = self.backend
        hook = self.hook or outer.hook
        if self.hook and outer.hook:  # each hook counts once, by identity
            own = {*map(id, self.hook)}
            hook = (*self.hook, *[each for each in outer.hook if id(each) not in own])
        return DispatchState(
            tuple([name for name in names if name not in self.disabled]),
            (outer.disabled - {*self.prioritized}) | self.disabled,
            outer.type if self.type is None else self.type,
            outer.trace if self.trace is None else self.trace,
            outer.fallback if self.fallback is None else self.fallback,
            backend,
            earlier,
            hook,
        )

    def replace(self, **fields: Any) -> DispatchState:
        """Return the state with other values in some of its fields."""
        kept = {name: getattr(self, name) for name in self.__slots__}
        kept["prioritized"] = kept.pop("places")
        return DispatchState(**kept | fields)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for states with the same options, as long as both are alive."""
        # Classes, traces and hooks are compared by identity, so that no foreign code runs.
        names = self.places, self.disabled, self.fallback, self.backend, self.earlier
        return (*names, id(self.type), id(self.trace), *map(id, self.hook or ()))

    @property
    def others(self) -> dict[str, Any]:
        """The given options that are no names in a list; traces and hooks stay in their process."""
        found = {"type": self.type, "fallback": self.fallback, "backend": self.backend}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def options(self) -> dict[str, Any]:
        """The options that make this state, except ``trace`` and ``hook``."""
        prioritized = self.prioritized
        if self.places[-1:] == (CURRENT,):  # the default place of the current backend
            prioritized = self.places[:-1]
        names = {"prioritize": prioritized, "disable": tuple(sorted(self.disabled))}
        return {name: value for name, value in names.items() if value} | self.others

    @property
    def is_plain(self) -> bool:
        """Whether it refers only to names, so that caches may keep it."""
        return self.type is None and self.trace is None and self.hook is None

    def ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return `names`, which are in the library's order, with the prioritized ones first."""
        names = dict.fromkeys(names)
        first = dict.fromkeys([name for name in self.prioritized if name in names])
        return tuple(first | names)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"<DispatchState {given or 'without options'}>"


def remembered(backend: str | None, earlier: tuple[str, ...]) -> tuple[str, ...]:
    """Return the formerly current backends after another one has replaced `backend`."""
    return earlier if backend is None else (backend, *earlier)[:MAX_EARLIER]


class Scope:
    """A dispatch state with its tables.

    A scope and its list refer to each other, so only the garbage collector frees them.
    """

    __slots__ = (
        *("__weakref__", "_decisions", "_sizes"),
        *("inner", "is_enabled", "stages", "state", "tables"),
    )

    def __init__(self, state: DispatchState) -> None:
        self.state = state
        self.tables: Tables = [self]
        # Of the process-wide default: whether a program made it, and not the environment.
        self.is_enabled = False
        # Scopes of blocks, by their options, if these are plain; compared by identity. At most
        # `MAX_INNER`.
        self.inner: dict[DispatchState, Scope] = {}
        self.stages: Stages | None = None  # the hooks, see `_hooked`
        self._sizes: dict[int, int] = {}
        self._decisions: dict[int, dict[Any, Any]] = {}

    def decisions(self, index: int) -> dict[Any, Any]:
        """Return the decisions of one function; call this before reading the backends.

        Keys have the ids of the dispatch types, so that no code of a metaclass runs. The
        decision keeps the types alive, so that no other class can get one of these ids.
        """
        # Atomic: two threads that come here at once get the same dictionary.
        return self._decisions.get(index) or self._decisions.setdefault(index, {})

    def make_room(self, index: int, table: dict[Any, Any]) -> None:
        """Count an entry before it is put into a table; empty the table if it is full."""
        size = self._sizes.get(index, 0)
        if size >= MAX_ENTRIES:
            table.clear()  # not exchanged: another thread may have forgotten all tables meanwhile
            self._decisions.pop(index, None)
            size = 0
        self._sizes[index] = size + 1

    def forget(self) -> None:
        """Start again with empty tables; entries of other threads land in discarded ones."""
        # Item 0 stays: another thread may be making another scope the default in this list.
        del self.tables[1:]
        self._sizes = {}
        self._decisions = {}


def table_of(tables: Tables, index: int) -> dict[Any, Any]:
    """Return a function's table; other threads may drop or append tables meanwhile."""
    while True:
        try:
            return tables[index]  # type: ignore[no-any-return]  # item 0 is the scope
        except IndexError:
            # Harmless if two threads append at once: the list just gets longer than needed.
            tables.append({})


def store(
    table: dict[Any, Any], function: Function, key: tuple[type, ...], target: Callable[..., Any]
) -> None:
    """Put a target into the table of a function.

    The wrapper looks it up type by type, in nested tables. If a finder returns the dispatch
    arguments, the key is the tuple of their types.
    """
    if function.parameters is None:
        table[key] = target
        return
    *first, last = key or (Missing,)
    for cls in first:
        table = table.setdefault(cls, {})
    table[last] = target


class StateKeeper:
    """A library's dispatch state: the context variable, the process-wide default, and the scopes.

    Code that puts a scope in force with ``set(scope.tables)`` reads what is in force by ``get`` and
    sets it again afterwards. Unlike a token, this also works in another context.
    """

    def __init__(self, name: str) -> None:
        default = Scope(DispatchState())
        # The value of contexts without a scope of their own. It stays the same list; item 0 is
        # the process-wide default.
        self._shared = default.tables
        self.replacing = RLock()  # held while the process-wide default is replaced
        self.variable: ContextVar[Tables] = ContextVar(name, default=self._shared)
        # The methods of the variable, so that calls need not look them up.
        self.get: Callable[[], Tables] = self.variable.get
        self.set: Callable[[Tables], Token[Tables]] = self.variable.set
        self._known: dict[tuple[object, ...], Scope] = {}
        # Weak, because strong references would make the bounds of the caches pointless.
        self._live = References()
        self._live.add(default)
        _keepers.add(self)

    @property
    def default(self) -> Scope:
        """The process-wide default."""
        scope: Scope = self._shared[0]
        return scope

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
                for each in self._live.alive():
                    each.inner.clear()  # so that unused scopes are freed
            scope = self._known[key] = self.new(state)
        return scope

    def inside(self, outer: Scope, own: DispatchState, around: DispatchState) -> Scope:
        """Return the scope of a state with another one around it; `outer` keeps it, by `own`."""
        scope = outer.inner.get(own)
        if scope is None:
            if len(outer.inner) >= MAX_INNER:
                outer.inner.clear()
            scope = outer.inner[own] = self.scope(own.within(around))
            scope.inner[own] = scope  # a state within itself changes nothing; for recursion
        return scope

    def new(self, state: DispatchState) -> Scope:
        """Return a new scope of a state; its tables are empty."""
        scope = Scope(state)
        self._live.add(scope)
        return scope

    def is_own(self) -> bool:
        """Whether this context has a scope of its own, instead of the process-wide default."""
        return self.get() is not self._shared

    def follow_default(self) -> None:
        """Let this context follow the process-wide default, also when that changes."""
        self.set(self._shared)

    def change_default(
        self, change: Callable[[DispatchState], DispatchState], is_enabled: bool = True
    ) -> None:
        """Make ``change(state)`` the default: as a program if `is_enabled`, else as environment."""
        with self.replacing:
            scope = self.new(change(self.default.state))
            scope.is_enabled = is_enabled
            scope.tables = self._shared
            # Replaces the default and drops its tables in one atomic step.
            self._shared[:] = [scope]

    def set_environment(self, state: DispatchState) -> None:
        """Make the environment's state the default, unless a program has changed the default."""
        with self.replacing:
            if not self.default.is_enabled:
                self.change_default(lambda _: state, is_enabled=False)

    def forget_tables(self) -> None:
        """Empty the tables of every scope, because the rules that filled them have changed."""
        self._known.clear()  # some have a class that nothing else refers to
        for scope in self._live.alive():
            scope.forget()


class References:
    """Weak references, compared by identity; unlike a `WeakSet`, it may change while it is read."""

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


def _forget_all() -> None:
    """Empty all tables; at exit, because modules that they refer to would not be finalized."""
    for keeper in _keepers.alive():
        keeper.forget_tables()


def _before_collection(phase: str, details: dict[str, int]) -> None:
    """Empty all tables before a full garbage collection: they may be all that refers to a class."""
    if phase == "start" and details["generation"] == 2:
        _forget_all()


def _after_fork() -> None:
    """Make new locks in the child of a fork: another thread of the parent may have held the old."""
    for keeper in _keepers.alive():
        keeper.replacing = RLock()


gc.callbacks.append(_before_collection)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_forget_all)
