"""The slow path: what happens when a table has no entry, and what introspection asks."""

from __future__ import annotations

from _weakref import ref  # weakref itself imports much more

from .._classes import is_found, is_hashable_by_identity, is_of_module
from .._dispatch_arguments import missing
from .shortcut import exchanging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from .._discovery.loader import Loader
    from .._resolution.explanation import Explanation
    from .._resolution.resolver import Resolver
    from .._state.keeper import StateKeeper
    from .._state.scope import Scope
    from .dispatchable import Dispatchable


class Dispatcher:
    """Fills the tables that the wrappers of a library read.

    Parameters
    ----------
    keeper : StateKeeper
        The library's dispatch state.
    loader : Loader
        Loads the backends when a table is filled for the first time.
    restore : callable
        `BackendSystem.restore`, for pickles.

    Attributes
    ----------
    records : list of Dispatchable
        All functions; the first has index 1 in the tables, where item 0 is the state.
    by_identifier : dict of str to Dispatchable
        The newest of each identifier: a module may be loaded again.
    variable : contextvars.ContextVar
        Holds the tables in force.
    tables : callable
        Returns them.
    link : Link
        What wrappers know of the dispatcher.
    """

    def __init__(self, keeper: StateKeeper, loader: Loader, restore: Callable[..., Any]) -> None:
        self._keeper = keeper
        self.restore = restore
        self._loader = loader
        self.records: list[Dispatchable] = []
        self.by_identifier: dict[str, Dispatchable] = {}
        self.variable = keeper.variable
        self.tables = keeper.get
        self.link = Link(self)
        keeper.observations.before = self.link.leave_shortcuts
        keeper.observations.after = self.link.take_shortcuts
        keeper.is_stray = self.link.is_stray

    def add(self, record: Dispatchable) -> int:
        """Give a function its index in the tables."""
        self.records.append(record)
        self.by_identifier[record.identifier] = record
        return len(self.records)

    def fill(self, index: int, values: tuple[Any, ...]) -> Callable[..., Any]:
        """Decide what to call for these dispatch arguments, and put it into the table.

        Parameters
        ----------
        index : int
            The function's place in the tables.
        values : tuple
            The dispatch arguments; None and `missing` among them.

        Returns
        -------
        callable
            What to call with the arguments of the call.
        """
        record = self.records[index - 1]
        function = record.function
        resolver = self._loader.loaded or self._loader.load()
        if resolver is None:
            # A backend calls the library while it is imported: only the library is there.
            return function.default
        tables = self._keeper.get()
        # First the table, then the state: if both are exchanged in between, what was decided
        # for the new state lands in the table that was thrown away.
        table = _table(tables, index)
        scope: Scope = tables[0]
        state = scope.state
        given = [each for each in values if each is not None and each is not missing]
        types = resolver.types(given, state)
        if resolver is not self._loader.loaded:
            return resolver.chain(function, state, types)
        self.take_shortcut(record, resolver)
        target = resolver.target(function, state, types)
        key = tuple(map(type, values))
        if all(map(is_hashable_by_identity, key)):
            scope.make_room(index, table)
            function.store(table, key, target)
        return target

    def take_shortcuts(self) -> None:
        """Let functions that no backend implements be their default implementations."""
        resolver = self._loader.loaded
        if resolver is not None:
            for record in self.records:
                self.take_shortcut(record, resolver)

    def take_shortcut(self, record: Dispatchable, resolver: Resolver) -> None:
        """Let a function be its default implementation while nothing else can answer."""
        if record.shortcut is None or len(resolver.implementers(record.identifier)) > 1:
            return
        with exchanging:
            if resolver is self._loader.loaded and not self._keeper.observations.any():
                record.shortcut.take()

    def leave_shortcuts(self) -> None:
        """Let all functions dispatch again: there are other backends, or calls are observed."""
        with exchanging:
            for record in self.records:
                if record.shortcut is not None and record.shortcut.is_taken:
                    record.shortcut.leave()

    def is_stray(self, index: int) -> bool:
        """Whether a function may live on only because of its tables.

        Its code leads to the tables, they to the default implementation, and that leads back
        if it has the wrapper among its globals or in its closure.
        """
        record = self.records[index - 1]
        return not is_found(record.wrapper, record.identifier) and not is_of_module(
            record.function.default
        )

    def deferred(
        self,
        index: int,
        called: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Go on with the next candidate after `called` returned ``NotImplemented``."""
        function = self.records[index - 1].function
        resolver = self._loader.loaded
        if resolver is None or called is function.default or resolver.is_final(called):
            return NotImplemented
        state = self._keeper.current()
        types = resolver.types(function.extract(args, kwargs), state)
        return resolver.chain(function, state, types).after(called)(*args, **kwargs)

    def extract(
        self, index: int, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Return what a function's own callable says are the dispatch arguments."""
        return self.records[index - 1].function.find(args, kwargs)

    def implementers(self, record: Dispatchable) -> tuple[str, ...]:
        """Return the names of the backends that implement a function, by priority."""
        return tuple(self._loader.get().implementers(record.identifier))

    def explain(
        self, record: Dispatchable, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Explanation:
        """Say what would run for a call; see `Dispatchable.explain`."""
        resolver = self._loader.get()
        state = self._keeper.current()
        function = record.function
        types = resolver.types(function.extract(args, kwargs), state)
        return resolver.explain(function, state, types, (args, kwargs))

    def explain_types(self, record: Dispatchable, types: Iterable[type]) -> Explanation:
        """Say what would run for these types; see `BackendSystem.explain_types`."""
        resolver = self._loader.get()
        state = self._keeper.current()
        unique = resolver.unique_types(types, state)
        return resolver.explain(record.function, state, unique, None)

    def invoke(
        self,
        record: Dispatchable,
        backend: str | None,
        cls: type | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Call a function as one backend, or for one type; see `Dispatchable.invoke`."""
        resolver = self._loader.get()
        state = self._keeper.current()
        if cls is not None:
            resolver.check_type(cls)
            state = state.replace(type=cls)
        function = record.function
        types = resolver.types(function.extract(args, kwargs), state)
        if backend is None:
            return resolver.call(function, state, types, args, kwargs)
        resolver.catalog.check_backend(backend)
        return resolver.demanded(function, backend, state, types)(*args, **kwargs)


class Link:
    """What a wrapper's code, and all that it leads to, knows of the dispatcher.

    It does not keep it alive, because the garbage collector does not look into code. Unlike a
    weak proxy it can be hashed, as everything in code must.

    Parameters
    ----------
    dispatcher : Dispatcher
        The library's dispatcher, which lives as long as its functions.
    """

    __slots__ = ("_find",)

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._find = ref(dispatcher)

    def _dispatcher(self) -> Dispatcher:
        dispatcher = self._find()
        if dispatcher is None:
            raise ReferenceError(
                "this is a copy of a function whose library is gone, with its BackendSystem"
            )
        return dispatcher

    def fill(self, index: int, values: tuple[Any, ...]) -> Callable[..., Any]:
        """See `Dispatcher.fill`."""
        return self._dispatcher().fill(index, values)

    def deferred(self, *call: Any) -> Any:
        """See `Dispatcher.deferred`."""
        return self._dispatcher().deferred(*call)

    def extract(self, *call: Any) -> tuple[Any, ...]:
        """See `Dispatcher.extract`."""
        return self._dispatcher().extract(*call)

    def leave_shortcuts(self) -> None:
        """See `Dispatcher.leave_shortcuts`; nothing to do without a dispatcher."""
        dispatcher = self._find()
        if dispatcher is not None:
            dispatcher.leave_shortcuts()

    def take_shortcuts(self) -> None:
        """See `Dispatcher.take_shortcuts`; nothing to do without a dispatcher."""
        dispatcher = self._find()
        if dispatcher is not None:
            dispatcher.take_shortcuts()

    def is_stray(self, index: int) -> bool:
        """See `Dispatcher.is_stray`; all of them are without a dispatcher."""
        dispatcher = self._find()
        return dispatcher is None or dispatcher.is_stray(index)


def _table(tables: list[Any], index: int) -> dict[Any, Any]:
    """Return a function's table; other threads may forget all tables meanwhile."""
    while True:
        try:
            table: dict[Any, Any] = tables[index]
        except IndexError:
            tables.append({})
        else:
            return table
