"""The dispatcher of a library: holds its functions, and fills the tables for their calls."""

from __future__ import annotations

import sys

from .._classes import Homes
from .._identifiers import DEFAULT
from .wrapper_support import Link

if sys.version_info < (3, 11):
    from . import garbage_collection  # noqa: F401  # which notes each collection from here on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CodeType, FunctionType
    from typing import Any, Protocol

    from .._call.caller import Caller
    from .._discovery.catalog import Catalog
    from .._discovery.loader import Loader
    from .._dispatch_arguments import Function
    from .._state.options import BackendOptions
    from .._state.state_keeper import StateKeeper
    from .library_shortcuts import Shortcuts
    from .results import Results
    from .shortcut import Shortcut
    from .wrapper import Generated

    class Record(Protocol):
        """The part of `Dispatchable` that the dispatcher needs."""

        dispatcher: Dispatcher
        identifier: str
        function: Function
        wrapper: FunctionType
        code: CodeType | None
        shortcut: Shortcut | None
        generated: Generated
        filename: str
        doc: str | None


class Dispatcher:
    """Fills the tables that the wrappers of a library read.

    For `_state` it is the `Owner` of the library's options.

    Parameters
    ----------
    keeper : StateKeeper
        The library's dispatch state.
    make_loader : callable
        Returns a loader of the library's backends; called once, on first use.
    restore : callable
        `BackendSystem.restore`, for pickles.
    reload : callable
        `BackendSystem.reload`, for users.
    defer_on : tuple of type, optional
        Classes of exceptions by which implementations defer.
    default_name : str, optional
        The name that users see for the library's own implementations.

    Attributes
    ----------
    backend_opts : type
        The library's `BackendOptions`, set by the system.
    records : list of Dispatchable
        All functions; the first has index 1 in the tables, where item 0 is the scope.
    by_identifier : dict of str to Dispatchable
        The newest function of each identifier: a module may be imported again.
    variable : contextvars.ContextVar
        Holds the tables in force.
    tables : callable
        Returns them.
    default_name : str
        The name of the library's own implementations in messages.
    link : Link
        A weak reference to the dispatcher, for the code of the wrappers.
    shortcuts : Shortcuts
        The shortcuts of all functions; set with the loader, before the first call.
    results : Results
        Handles ``NotImplemented`` and exceptions of calls; set with `shortcuts`.
    """

    def __init__(
        self,
        keeper: StateKeeper,
        make_loader: Callable[[], Loader[Caller]],
        restore: Callable[..., Any],
        reload: Callable[[], None],
        defer_on: tuple[type[Exception], ...] = (),
        default_name: str = DEFAULT,
    ) -> None:
        self.default_name = default_name
        self.defer_on = defer_on
        self.backend_opts: type[BackendOptions]
        self.keeper = keeper
        self._make_loader = make_loader
        self.restore = restore
        self.reload = reload
        self.adoptions: list[Any] = []  # one `Adoption` at most, as with the loaders
        # One at most; appending and reading are single steps, so that no lock is needed.
        self._loaders: list[Loader[Caller]] = []
        self.records: list[Record] = []
        self.by_identifier: dict[str, Record] = {}
        self._homes = Homes()
        self.variable = keeper.variable
        self.tables = keeper.get
        self.link = Link(self)
        self.shortcuts: Shortcuts
        self.results: Results
        keeper.strays = self.link.strays

    @property
    def loaded(self) -> Caller | None:
        """The caller of the backends, if they have been loaded."""
        return self._loaders[0].loaded if self._loaders else None

    def ensure_loader(self) -> Loader[Caller]:
        """Return the loader; if several threads make one, the first one's stays."""
        if not self._loaders:
            self._loaders.append(self._make_loader())
        return self._loaders[0]

    def ensure_loaded(self) -> Caller:
        """Return the caller of the backends, which are loaded if needed.

        Raises
        ------
        RuntimeError
            If this thread is loading them.
        """
        return self.ensure_loader().get()

    def catalog(self) -> Catalog:
        """Return the catalog of the backends, which are discovered if needed."""
        return self.ensure_loaded().catalog

    def check_type(self, cls: object) -> None:
        """Raise unless `cls` is a primary type of any backend; see `Resolver.check_type`."""
        self.ensure_loaded().resolver.check_type(cls)

    def add(self, record: Record) -> int:
        """Give a function of the library its index in the tables."""
        index = self.place(record)
        self.by_identifier[record.identifier] = record
        self._homes.add(record.function.default, index)
        return index

    def place(self, record: Any) -> int:
        """Return the index of a new record in the tables."""
        self.records.append(record)
        index = len(self.records)
        while self.records[index - 1] is not record:
            index -= 1  # another thread has added one meanwhile
        return index

    def ready(self) -> Caller | None:
        """Return the caller of the backends, loaded if needed; None if this thread loads them."""
        loader = self.ensure_loader()
        return loader.settled or loader.load() or loader.loaded

    def follow(self, record: Record, caller: Caller, is_new: bool) -> None:
        """Let a function that is added after the backends take its shortcut."""
        # A redefined function takes no shortcut: hot reloaders copy its code into the old wrapper,
        # and must find the generated code.
        if is_new:
            self.shortcuts.take(record, caller)

    def fill(self, index: int, values: tuple[Any, ...]) -> Callable[..., Any]:
        """Find the callable for these dispatch arguments, and put it into the table.

        Parameters
        ----------
        index : int
            The function's place in the tables.
        values : tuple
            The dispatch arguments, including None and `missing`.

        Returns
        -------
        callable
            The callable for the arguments of the call.
        """
        from .missing_entries import fill  # not needed when a library is imported

        return fill(self, index, values)

    def strays(self) -> set[int]:
        """Return the indices of functions that only their tables may keep alive.

        The code of a wrapper refers to the tables, these to the default implementation, and its
        globals or closure may refer to the wrapper. The garbage collector does not see this
        cycle, because it does not traverse code.
        """
        return self._homes.strays(self.records)

    def extract(
        self, index: int, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Return the dispatch arguments that a finder of the library returns."""
        return self.records[index - 1].function.find(args, kwargs)
