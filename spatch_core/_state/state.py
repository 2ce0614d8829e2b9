"""Dispatch state: what is prioritized, disabled, assumed and traced, where and for how long.

A library's `ContextVar` holds one plain list, `tables`. Item 0 is the `DispatchState`;
item `i` is the table of function `i`, which says what to call for which argument types.
So whoever has the tables has the state, and a new state starts with empty tables.
"""

from __future__ import annotations

import atexit
import gc
from _weakref import ref  # weakref itself imports much more
from contextvars import ContextVar

from .._classes import is_hashable_by_identity, is_importable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Protocol, TypeAlias

    from .._discovery.catalog import Catalog
    from .._resolution.resolver import Resolver
    from .trace import TraceEvent

    Class = type  # where a parameter or a property is called `type`
    Tables: TypeAlias = list[Any]

    class Owner(Protocol):
        """What dispatch state needs of the library's system."""

        keeper: StateKeeper

        def resolver(self) -> Resolver: ...


_MAX_STATES = 256


class References:
    """Objects that are not kept alive; unlike a `WeakSet` it may change while it is read."""

    __slots__ = ("_references",)

    def __init__(self) -> None:
        self._references: dict[int, ref[Any]] = {}

    def add(self, each: object) -> None:
        """Remember an object for as long as something refers to it."""
        references, key = self._references, id(each)
        references[key] = ref(each, lambda _: references.pop(key, None))

    def alive(self) -> list[Any]:
        """Return the objects that are still there."""
        # Copied in one step, which no other thread can interrupt.
        found = [reference() for reference in list(self._references.values())]
        return [each for each in found if each is not None]


class Changes:
    """What one block of options says; compared by identity, so that it is a quick key.

    Parameters
    ----------
    prioritize : tuple of str
        Names to put first.
    disable : frozenset of str
        Names to disable.
    type, trace
        As in `DispatchState`; None leaves what the outer block says.

    Attributes
    ----------
    derived : tuple of weakref.ref, or None
        The last state around such a block, and that inside it; a cache. They are not kept
        alive: options that somebody keeps must not make a trace go on.
    step : tuple of DispatchState and list
        The same where nothing is traced or assumed, with the tables of the one inside; for
        blocks that are entered again and again.
    """

    __slots__ = ("derived", "disable", "prioritize", "step", "trace", "type")

    def __init__(
        self,
        prioritize: tuple[str, ...],
        disable: frozenset[str],
        type: Class | None = None,
        trace: list[TraceEvent] | None = None,
    ) -> None:
        self.prioritize = prioritize
        self.disable = disable
        self.type = type
        self.trace = trace
        self.derived: tuple[ref[DispatchState], ref[DispatchState]] | None = None
        self.step: tuple[DispatchState | None, Tables] = (None, [])

    @property
    def is_plain(self) -> bool:
        """Whether it keeps nothing alive, and so may be kept itself."""
        return self.type is None and self.trace is None


class DispatchState:
    """The options in force; immutable but for its tables, which are a cache.

    Attributes
    ----------
    prioritized : tuple of str
        Backends that go first, the most recently prioritized first of all.
    disabled : frozenset of str
        Backends that are not active now.
    type : type or None
        Counts as if it had been passed to every call.
    trace : list of TraceEvent or None
        Where events are recorded.
    tables : list
        The value of the `ContextVar`.
    sizes : dict of int to int
        How many entries each table has.
    inner : dict of Changes to DispatchState
        States of blocks inside this one; a cache.
    """

    __slots__ = (
        "__weakref__",
        "disabled",
        "inner",
        "prioritized",
        "sizes",
        "tables",
        "trace",
        "type",
    )

    def __init__(
        self,
        prioritized: tuple[str, ...] = (),
        disabled: frozenset[str] = frozenset(),
        type: Class | None = None,
        trace: list[TraceEvent] | None = None,
    ) -> None:
        self.prioritized = prioritized
        self.disabled = disabled
        self.type = type
        self.trace = trace
        self.tables: Tables = [self]
        self.sizes: dict[int, int] = {}
        self.inner: dict[Changes, DispatchState] = {}

    def __repr__(self) -> str:
        options = {
            "prioritized": self.prioritized,
            "disabled": tuple(sorted(self.disabled)),
            "type": self.type,
        }
        given = ", ".join(f"{key}={value!r}" for key, value in options.items() if value)
        return f"<DispatchState {given or 'without options'}>"

    @property
    def is_plain(self) -> bool:
        """Whether it keeps nothing alive, and so may be kept itself."""
        return self.type is None and self.trace is None

    def is_active(self, name: str, requires_opt_in: bool) -> bool:
        """Whether the backend `name` takes part in calls."""
        return name not in self.disabled and (not requires_opt_in or name in self.prioritized)

    def says_as_much_as(self, other: DispatchState) -> bool:
        """Whether both have the same options."""
        return (self.prioritized, self.disabled, self.type, self.trace) == (
            other.prioritized,
            other.disabled,
            other.type,
            other.trace,
        )

    def active(self, catalog: Catalog) -> tuple[str, ...]:
        """Return the names of the active backends by priority."""
        descriptions = catalog.descriptions
        return tuple(
            name
            for name in self.ordered(tuple(descriptions))
            if self.is_active(name, descriptions[name].requires_opt_in)
        )

    def ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return `names`, which are in the library's order, with the prioritized ones first."""
        if not self.prioritized:
            return tuple(names)
        names = dict.fromkeys(names)
        first = dict.fromkeys([name for name in self.prioritized if name in names])
        return tuple(first | names)

    def forget_tables(self) -> None:
        """Start again with empty tables; a fill under way lands in a discarded one."""
        self.tables[:] = [self]
        self.sizes = {}


class StateKeeper:
    """A library's dispatch state: the context variable and the process-wide default.

    Parameters
    ----------
    name : str
        Name of the context variable.

    Attributes
    ----------
    before_trace : callable
        Called before a traced state is in force.
    is_stray : callable
        Takes the index of a function, and returns whether only the tables may keep it alive.
    """

    def __init__(self, name: str) -> None:
        self.default = DispatchState()
        self.variable: ContextVar[Tables] = ContextVar(name, default=self.default.tables)
        self.get: Callable[[], Tables] = self.variable.get
        self.enabled_globally = False
        self.before_trace: Callable[[], None] = _do_nothing
        self.is_stray: Callable[[int], bool] = _is_never
        self._traced: dict[int, ref[DispatchState]] = {}
        self._known: dict[Any, DispatchState] = {}
        self._live: References = References()
        self._live.add(self.default)
        _keepers.add(self)

    def current(self) -> DispatchState:
        """Return the state in force here and now."""
        state: DispatchState = self.get()[0]
        return state

    def derive(self, outer: DispatchState, changes: Changes) -> DispatchState:
        """Return the state of a block; the same one for the same values.

        Parameters
        ----------
        outer : DispatchState
            The state around the block.
        changes : Changes
            What the block says.
        """
        state = outer.inner.get(changes)
        if state is not None:
            return state
        derived = changes.derived
        if derived is not None and derived[0]() is outer:
            state = derived[1]()
            if state is not None:
                return state
        prioritize, disable = changes.prioritize, changes.disable
        kept = [name for name in outer.prioritized if name not in prioritize]
        state = self.find(
            tuple(name for name in (*prioritize, *kept) if name not in disable),
            (outer.disabled - {*prioritize}) | disable,
            outer.type if changes.type is None else changes.type,
            outer.trace if changes.trace is None else changes.trace,
        )
        if changes.is_plain:
            outer.inner[changes] = state
        else:
            changes.derived = ref(outer), ref(state)
        return state

    def find(
        self,
        prioritized: tuple[str, ...],
        disabled: frozenset[str],
        type: Class | None = None,
        trace: list[TraceEvent] | None = None,
    ) -> DispatchState:
        """Return the state of these values, whose tables may be filled already."""
        if trace is not None or (type is not None and not is_hashable_by_identity(type)):
            return self._new(prioritized, disabled, type, trace)
        key = (prioritized, disabled, type)
        state = self._known.get(key)
        if state is None:
            if len(self._known) >= _MAX_STATES:
                self._known.clear()
                self.forget_inner()
            state = self._known[key] = self._new(prioritized, disabled, type)
        return state

    def _new(self, *options: Any) -> DispatchState:
        state = DispatchState(*options)
        self._live.add(state)
        if state.trace is not None:
            self._watch(state)
        return state

    def _watch(self, state: DispatchState) -> None:
        """Take note of a traced state, before it is in force anywhere."""
        traced, key = self._traced, id(state)

        def end(_: object) -> None:
            traced.pop(key, None)
            if not traced:
                # What was put into the tables because of it may be had for less now.
                self.forget_tables()

        traced[key] = ref(state, end)
        self.before_trace()

    def is_tracing(self) -> bool:
        """Whether there is a traced state, in whatever thread or task."""
        return bool(self._traced)

    def set_default(self, state: DispatchState) -> None:
        """Make `state` the process-wide default.

        The list that the variable gives where nothing was set stays the same object, so
        its content is exchanged.
        """
        tables = self.default.tables
        self.default.tables = [self.default]
        state = self._new(state.prioritized, state.disabled, state.type, state.trace)
        state.tables = tables
        self.default = state
        state.forget_tables()

    def forget_inner(self) -> None:
        """Forget which states lie inside which; there would be ever more of them."""
        for state in self._live.alive():
            state.inner.clear()

    def forget_tables(self) -> None:
        """Empty the tables of every state, because what they were filled from has changed."""
        for state in self._live.alive():
            state.forget_tables()

    def forget_unreachable(self) -> None:
        """Drop what may keep alive a class or a function that nothing else refers to."""
        for key, state in list(self._known.items()):
            if state.type is not None and not is_importable(state.type):
                self._known.pop(key, None)
        for state in self._live.alive():
            for index, table in enumerate(state.tables):
                if (
                    index
                    and table
                    and (self.is_stray(index) or not all(map(is_importable, _classes(table))))
                ):
                    state.tables[index] = {}


def _classes(table: dict[Any, Any]) -> Iterator[Class]:
    """Yield every class that a table has as a key; keys are classes or tuples of them."""
    for key, value in list(table.items()):
        if type(key) is tuple:
            yield from key
        else:
            yield key
        if type(value) is dict:
            yield from _classes(value)


def _do_nothing() -> None:
    pass


def _is_never(_: int) -> bool:
    return False


_keepers = References()


def _before_collection(phase: str, details: dict[str, int]) -> None:
    """Let a full garbage collection see what only the tables refer to."""
    if phase == "start" and details["generation"] == 2:
        for keeper in _keepers.alive():
            keeper.forget_unreachable()


gc.callbacks.append(_before_collection)


def _before_exit() -> None:
    """Let the interpreter's last collection see what only the tables refer to.

    It asks nobody. What a library's module has would be alive when all is over, and its files
    not written to the end.
    """
    for keeper in _keepers.alive():
        keeper.forget_tables()


atexit.register(_before_exit)
