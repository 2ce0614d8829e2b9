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
inner     options of a block          scope of the block   `MAX_INNER` a scope
========  ==========================  ===================  ==========================

Tables and chains are cleared together: by `Scope.forget`, because the backends have changed
or a class was registered; by `Scope.make_room`, because a table is full; and by
`Scope.forget_unreachable`, before a full garbage collection.
Inner scopes are forgotten when there are too many, here or in all scopes together (see
`keeper`).

Invariant for threads: a thread that decides something gets the dictionary to put it into
first, and reads what it decides by afterwards. To forget means to exchange the dictionaries,
never to clear them alone. So what was decided by old rules lands in a discarded dictionary.
"""

from __future__ import annotations

from .._classes import is_importable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from .state import Class, DispatchState

    Tables: TypeAlias = list[Any]

MAX_ENTRIES = 1024
"""How many combinations of types a table may hold before it is emptied."""

MAX_INNER = 256
"""How many inner scopes a scope may know before it forgets them."""


class Scope:
    """A dispatch state with its tables.

    A scope and its list refer to each other; the garbage collector frees them.

    Parameters
    ----------
    state : DispatchState
        The options in force.

    Attributes
    ----------
    tables : list
        The value of the context variable.
    is_observed : bool
        As the state says.
    inner : dict of DispatchState to Scope
        Scopes of blocks inside this one, by the options of each block, which are compared by
        identity. Only plain options are among them.
    """

    __slots__ = ("__weakref__", "_chains", "_sizes", "inner", "is_observed", "state", "tables")

    def __init__(self, state: DispatchState) -> None:
        self.state = state
        self.is_observed = state.is_observed
        self.tables: Tables = [self]
        self.inner: dict[DispatchState, Scope] = {}
        self._sizes: dict[int, int] = {}
        self._chains: dict[int, Chains] = {}

    def __repr__(self) -> str:
        return f"<Scope of {self.state!r}>"

    def chains(self, index: int) -> Chains:
        """Return the chains of one function.

        Call this before reading which backends there are: if all is forgotten meanwhile,
        a chain of the old backends is kept in a discarded object.
        """
        found = self._chains.get(index)
        if found is None:
            # In one step: two threads that come here at once get the same object.
            found = self._chains.setdefault(index, Chains())
        return found

    def make_room(self, index: int, table: dict[Any, Any]) -> None:
        """Count an entry that is about to be put into a table; empty the table if it is full.

        `table` is cleared in place, and not exchanged for a new one: if another thread has
        forgotten all tables meanwhile, the new ones have their room already.
        """
        size = self._sizes.get(index, 0)
        if size >= MAX_ENTRIES:
            table.clear()
            self._chains.pop(index, None)
            size = 0
        self._sizes[index] = size + 1

    def keep_inner(self, options: DispatchState, scope: Scope) -> None:
        """Know a scope as that of a block of these options inside this one."""
        if len(self.inner) >= MAX_INNER:
            self.inner.clear()
        self.inner[options] = scope

    def forget(self) -> None:
        """Start again with empty tables; an entry on its way lands in a discarded one."""
        self.tables[:] = [self]
        self._sizes = {}
        self._chains = {}

    def forget_unreachable(self, is_stray: Callable[[int], bool]) -> None:
        """Drop what may keep alive a class or a function that nothing else refers to.

        Runs in the middle of a garbage collection: no code of any class may run.
        """
        for index, table in enumerate(self.tables):
            if index and table and (is_stray(index) or not _all_importable(_classes(table))):
                self.tables[index] = {}  # `_sizes` stays: it is an upper bound
        for index, chains in list(self._chains.items()):
            if is_stray(index) or not _all_importable(chains.classes()):
                self._chains.pop(index, None)


class Chains:
    """Chains of candidates of one function, by dispatch types.

    They are keyed by the identities of the types, so that no metaclass is asked; the types
    are kept with the chain, so that an identity means the same class for as long.
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

    def classes(self) -> Iterator[Class]:
        """Yield every class that a chain was kept for."""
        for types, _ in list(self._kept.values()):
            yield from types


def _all_importable(classes: Iterator[Class]) -> bool:
    """Whether all classes are found by their names, and so live on by themselves."""
    return all(map(is_importable, classes))


def _classes(table: dict[Any, Any]) -> Iterator[Class]:
    """Yield every class in the keys of a table, which are classes or tuples of them."""
    for key, value in list(table.items()):
        if type(key) is tuple:
            yield from key
        else:
            yield key
        if type(value) is dict:
            yield from _classes(value)
