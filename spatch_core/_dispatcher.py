"""The dispatcher of a library: holds its functions, and fills the tables for their calls."""

from __future__ import annotations

from sys import is_finalizing

from ._patterns import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ._discovery import Catalog
    from ._entries import Calls
    from ._function import Dispatchable
    from ._loading import Loader
    from ._options import BackendOptions
    from ._state import StateKeeper


class Dispatcher:
    """Fills the tables that the wrappers of a library read, and is the `Owner` of its options.

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
    """

    def __init__(
        self,
        keeper: StateKeeper,
        make_loader: Callable[[], Loader[Calls]],
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
        # One at most, in both: appending and reading are single steps, so that no lock is needed.
        self.adoptions: list[Any] = []
        self._loaders: list[Loader[Calls]] = []
        self.records: list[Any] = []
        self.by_identifier: dict[str, Dispatchable] = {}
        self.variable = keeper.variable
        self.tables = keeper.get

    @property
    def loaded(self) -> Calls | None:
        """The calls of the backends, if they have been loaded."""
        return self._loaders[0].loaded if self._loaders else None

    def ensure_loader(self) -> Loader[Calls]:
        """Return the loader; if several threads make one, the first one's stays."""
        if not self._loaders:
            self._loaders.append(self._make_loader())
        return self._loaders[0]

    def ensure_loaded(self) -> Calls:
        """Return the calls of the backends, which are loaded if needed.

        Raises
        ------
        RuntimeError
            If this thread is loading them.
        """
        return self.ensure_loader().get()

    def ready(self) -> Calls | None:
        """Return the calls of the backends, loaded if needed; None if this thread loads them."""
        loader = self.ensure_loader()
        return loader.settled or loader.load() or loader.loaded

    def catalog(self) -> Catalog:
        """Return the catalog of the backends, which are discovered if needed."""
        found: Catalog = self.ensure_loaded().catalog
        return found

    def check_type(self, cls: object) -> None:
        """Raise unless `cls` is a primary type of any backend; see `Decider.check_type`."""
        self.ensure_loaded().decider.check_type(cls)

    def add(self, record: Dispatchable) -> int:
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

    def fill(self, index: int, values: tuple[Any, ...]) -> Callable[..., Any]:
        """Find the callable for a call, and put it into the table of the function.

        `values` are the dispatch arguments, including None and `missing`.
        """
        if is_finalizing():
            # A finalizer calls it when the interpreter ends, when nothing can be imported any more.
            default: Callable[..., Any] = self.records[index - 1].function.default
            return default
        from ._entries import fill  # not needed when a library is imported

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
        """Call the next candidates after `called` returned ``NotImplemented``.

        `values` are the dispatch arguments, if a finder has returned them.
        """
        from ._entries import deferred

        return deferred(self, index, called, args, kwargs, values)

    def failed(
        self,
        index: int,
        called: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        error: Exception,
        values: tuple[Any, ...] | None = None,
    ) -> Any:
        """Handle an exception of a table's entry: it defers by it, or gets a note.

        Returns
        -------
        object
            The argument `called` of `deferred`, if the entry defers by the exception; else None.
        """
        from ._entries import failed

        return failed(self, index, called, args, kwargs, error, values)

    def check(self, index: int, called: Any, result: Any) -> Any:
        """Return the answer of an entry of a coroutine or generator function, if it is right."""
        calls = self.loaded
        if calls is None:
            return result  # of the default: no backend is known yet
        return calls.check(self.records[index - 1].function, called, result)

    def extract(
        self, index: int, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Return the dispatch arguments that a finder of the library returns."""
        found: tuple[Any, ...] = self.records[index - 1].function.find(args, kwargs)
        return found
