"""A library in its initial state, for a test in this interpreter."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import invalidate_caches

from .._loading import docs
from .._state import DispatchState
from .._wrapper import document
from ..backend_system import BackendSystem
from .environment import folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._entries import Calls

__all__ = ["isolated"]


@contextmanager
def isolated(
    system: BackendSystem,
    *,
    path: Iterable[str | os.PathLike[str]] = (),
    environment: Mapping[str, str | None] | None = None,
) -> Iterator[BackendSystem]:
    """Put a library into its initial state for a ``with`` block, and restore its state after it.

    In the block only the options of the environment are in force, and backends are discovered
    again at their first use. After it, the previous backends and options are back, and modules
    imported from `path` are removed from `sys.modules`.

    Parameters
    ----------
    system : BackendSystem
        The library's system.
    path : iterable of path, optional
        The first folders (or zip files) on `sys.path`, for example those of
        `write_distribution`.
    environment : mapping of str to str or None, optional
        Environment variables to set, or to remove (None), besides those of this process.

    Yields
    ------
    BackendSystem
        The same system.

    Raises
    ------
    TypeError
        If `system` is not a `BackendSystem`, or `path` is one folder instead of several.

    Notes
    -----
    Other threads see the changes too: do not run such tests in several threads at once.

    Examples
    --------
    A library's own tests, without the backends installed beside it:

    >>> from spatch_core import BackendSystem
    >>> system = BackendSystem("mylib.backends", "MYLIB")
    >>> with isolated(system, environment={"MYLIB_BLOCK": "*"}):
    ...     list(system.backends)
    ['default']
    """
    if not isinstance(system, BackendSystem):
        raise TypeError(f"isolated() takes the BackendSystem of a library, not {system!r}")
    added = folders(path)
    keeper = system._dispatcher.keeper
    outer, default, globally = keeper.get(), keeper.default.state, keeper.default.is_enabled
    caller = system._loader.loaded
    variables, search_path = dict(os.environ), list(sys.path)
    modules = set(sys.modules)
    try:
        for name, value in (environment or {}).items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        sys.path[:0] = added
        invalidate_caches()
        keeper.change_default(lambda _: DispatchState(), is_enabled=False)
        # As in a new thread: with the tables of the default, which enable_globally() changes.
        keeper.follow_default()
        _put_back(system, None)
        yield system
    finally:
        # Without ContextVar.reset: a fixture may end in another context than it began in.
        keeper.set(outer)
        keeper.change_default(lambda _: default, globally)
        sys.path[:] = search_path
        for name in variables.keys() | os.environ.keys():
            if name not in variables:
                del os.environ[name]
            elif os.environ.get(name) != variables[name]:
                os.environ[name] = variables[name]
        _forget_modules(set(sys.modules) - modules, added)
        invalidate_caches()
        _put_back(system, caller)


def _put_back(system: BackendSystem, caller: Calls | None) -> None:
    """Install a caller with its discovered backends; None for a new discovery at the next use."""
    system._loader.loaded = caller
    system._dispatcher.keeper.forget_tables()
    system.backend_opts._forget()
    for record in system._dispatcher.records:
        document(record, "" if caller is None else docs(caller, record.identifier))


def _forget_modules(names: Iterable[str], folders: Iterable[str]) -> None:
    """Remove the modules that were imported from `folders`."""
    roots = [os.path.join(os.path.abspath(folder), "") for folder in folders]
    for name in names:
        spec = getattr(sys.modules[name], "__spec__", None)
        locations = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
        if any(os.path.abspath(place).startswith(root) for place in locations for root in roots):
            del sys.modules[name]
