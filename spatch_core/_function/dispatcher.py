"""The dispatcher of a library: holds its functions, and fills the tables for their calls."""

from __future__ import annotations

from sys import is_finalizing

from .._identifiers import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FunctionType
    from typing import Any, Protocol

    from .._call.caller import Caller
    from .._discovery.catalog import Catalog
    from .._discovery.loader import Loader
    from .._dispatch_arguments import Function
    from .._options import BackendOptions
    from .._state import StateKeeper
    from .results import Results
    from .wrapper import Generated

    class Record(Protocol):
        """The part of `Dispatchable` that the dispatcher needs."""

        dispatcher: Dispatcher
        identifier: str
        function: Function
        wrapper: FunctionType
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
    results : Results or None
        Handles ``NotImplemented`` and exceptions of calls; set with the loader, before the first
        call.
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
        self.variable = keeper.variable
        self.tables = keeper.get
        self.results: Results | None = None

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
        if is_finalizing():
            # A finalizer calls it when the interpreter ends, when nothing can be imported any more.
            return self.records[index - 1].function.default
        from .missing_entries import fill  # not needed when a library is imported

        return fill(self, index, values)

    # Not by ``*call``, for which CPython would use the C stack: the recursion may be deep.
    def deferred(
        self,
        index: int,
        called: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        values: tuple[Any, ...] | None = None,
    ) -> Any:
        """See `Results.deferred`."""
        if self.results is None:
            return NotImplemented
        return self.results.deferred(index, called, args, kwargs, values)

    def failed(
        self,
        index: int,
        called: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        error: Exception,
        values: tuple[Any, ...] | None = None,
    ) -> Any:
        """See `Results.failed`."""
        if self.results is None:
            return None
        return self.results.failed(index, called, args, kwargs, error, values)

    def check(self, index: int, called: Any, result: Any) -> Any:
        """See `Results.check`."""
        return result if self.results is None else self.results.check(index, called, result)

    def extract(
        self, index: int, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Return the dispatch arguments that a finder of the library returns."""
        return self.records[index - 1].function.find(args, kwargs)
