"""A scope: one dispatch state with the tables that are filled under it.

The value of a library's context variable is a scope's `tables`, a plain list: item 0 is the
`Scope`, item ``i`` is the table of function ``i``. A table is nested plain dictionaries, one
level for each dispatch argument, from the arguments' classes to the callable. Generated code
and C read the list without a lock, so it must stay a plain list of plain dictionaries.

What a scope keeps:

========  ==========================  ===================  ==========================
cache     key                         value                bound
========  ==========================  ===================  ==========================
tables    function, classes of the    callable             `MAX_ENTRIES` a function
          dispatch arguments
chains    function, dispatch types    chain of candidates  `MAX_ENTRIES` a function
inner     options of a block, or of   scope of the block   `MAX_INNER` a scope
          a `Switch`
========  ==========================  ===================  ==========================

Tables and chains are cleared together: by `Scope.forget`, because the backends have changed
or a class was registered; by `Scope.make_room`, because a table is full; and by
`Scope.forget_unreachable`, before a full garbage collection. Inner scopes are forgotten when there
are too many, here or in all scopes together (see `state_keeper`).

The list of the process-wide default never changes its identity: when the default changes, item 0
becomes the new scope.

Invariant for threads: a thread that makes a decision first gets the dictionary that it will put the
decision into, and only then reads the rules. To forget decisions, the dictionaries are exchanged,
not just cleared. So decisions by old rules land in a discarded dictionary.
"""

from __future__ import annotations

from .._parameters import Missing
from .._patterns import is_importable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from .._parameters import Function
    from .hooks import Stages
    from .state import Class, DispatchState

    Tables: TypeAlias = list[Any]

MAX_ENTRIES = 1024
"""How many combinations of types a table may hold before it is emptied."""

MAX_INNER = 256
"""How many inner scopes a scope may know before it forgets them."""


class Scope:
    """A dispatch state with its tables.

    A scope and its list refer to each other, so only the garbage collector frees them.

    Parameters
    ----------
    state : DispatchState
        The options in force.

    Attributes
    ----------
    tables : list
        The value of the context variable.
    is_enabled : bool
        For the process-wide default: whether a program made it, and not the environment.
    inner : dict of DispatchState to Scope
        Scopes of blocks inside this one, by the options of each block, which are compared by
        identity. Only plain options are among them.
    stages : tuple or None
        What `hook_stages.stages_of` has found.
    """

    __slots__ = (
        *("__weakref__", "_chains", "_sizes", "inner", "is_enabled", "stages", "state", "tables"),
    )

    def __init__(self, state: DispatchState) -> None:
        self.state = state
        self.is_enabled = False
        self.tables: Tables = [self]
        self.inner: dict[DispatchState, Scope] = {}
        self.stages: Stages | None = None
        self._sizes: dict[int, int] = {}
        self._chains: dict[int, Chains] = {}

    def __repr__(self) -> str:
        return f"<Scope of {self.state!r}>"

    def chains(self, index: int) -> Chains:
        """Return the chains of one function.

        Call this before reading the backends: if all is forgotten meanwhile, a chain of the old
        backends lands in a discarded object.
        """
        found = self._chains.get(index)
        if found is None:
            # Atomic: two threads that come here at once get the same object.
            found = self._chains.setdefault(index, Chains())
        return found

    def make_room(self, index: int, table: dict[Any, Any]) -> None:
        """Count an entry before it is put into a table; empty the table if it is full.

        `table` is cleared, not exchanged for a new one: if another thread has forgotten all tables
        meanwhile, the new ones have room already.
        """
        size = self._sizes.get(index, 0)
        if size >= MAX_ENTRIES:
            table.clear()
            self._chains.pop(index, None)
            size = 0
        self._sizes[index] = size + 1

    def keep_inner(self, options: DispatchState, scope: Scope) -> None:
        """Cache the scope of a block of these options inside this one."""
        if len(self.inner) >= MAX_INNER:
            self.inner.clear()
        self.inner[options] = scope

    def forget(self) -> None:
        """Start again with empty tables; entries of other threads land in discarded ones."""
        # Item 0 stays: another thread may be making another scope the default in this list.
        del self.tables[1:]
        self._sizes = {}
        self._chains = {}

    def forget_unreachable(self) -> None:
        """Drop entries that may be the only references to a class.

        Runs during a garbage collection: no code of any class may run, other threads may change
        everything meanwhile, and a thousand functions may take one millisecond. So all classes are
        gathered first, in a few steps; usually there is nothing to drop.
        """
        tables = self.tables[1:]
        keys = _keys(tables)
        lost = {key for key in keys if not _is_importable_key(key)}
        for index, table in enumerate(tables, 1):
            if table and lost and not lost.isdisjoint(_keys([table])):
                # Exchanges the table, if no other thread has dropped it meanwhile. `_sizes` stays:
                # it is an upper bound.
                self.tables[index : index + 1] = [{}] * (index < len(self.tables))
        for index, chains in self._chains.copy().items():
            if not all(map(is_importable, chains.classes())):
                self._chains.pop(index, None)


class Chains:
    """Chains of candidates of one function, by dispatch types.

    Keys are the ids of the types, so that no code of a metaclass runs. The types are kept with the
    chain, so that no other class can get one of these ids.
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[tuple[int, ...], tuple[tuple[Class, ...], Any]] = {}

    def get(self, types: tuple[Class, ...]) -> Any:
        """Return the chain for these dispatch types, or None."""
        found = self._kept.get(tuple(map(id, types)))
        return None if found is None else found[1]

    def keep(self, types: tuple[Class, ...], chain: object) -> None:
        """Keep a chain for these dispatch types until the function's table is forgotten."""
        if len(self._kept) >= MAX_ENTRIES:
            self._kept.clear()
        self._kept[tuple(map(id, types))] = types, chain

    def classes(self) -> list[Class]:
        """Return every class that a chain was kept for."""
        return [cls for types, _ in self._kept.copy().values() for cls in types]


def table_of(tables: list[Any], index: int) -> dict[Any, Any]:
    """Return a function's table; other threads may drop or append tables meanwhile."""
    while True:
        try:
            table: dict[Any, Any] = tables[index]
        except IndexError:
            # Harmless if two threads append at once: the list just gets longer than needed.
            tables.append({})
        else:
            return table


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


def _keys(tables: list[dict[Any, Any]]) -> set[Any]:
    """Return all keys of tables and of nested tables: classes, or tuples of classes.

    Only classes that are hashed and compared by identity are keys (see `missing_entries`).
    """
    keys: set[Any] = set()
    while tables:
        keys.update(*tables)
        tables = [value for table in tables for value in [*table.values()] if type(value) is dict]
    return keys


def _is_importable_key(key: Any) -> bool:
    """Whether all classes of a key are importable, and so are kept alive by their modules."""
    return all(map(is_importable, key)) if type(key) is tuple else is_importable(key)
