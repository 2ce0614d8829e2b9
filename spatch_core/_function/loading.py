"""Loads the backends of a library when they are needed, and lets its functions follow them."""

from __future__ import annotations

from functools import partial
from importlib import invalidate_caches
from os import environ
from typing import TYPE_CHECKING, Any, Protocol

from .._call.caller import Caller
from .._discovery.catalog_builder import build_catalog
from .._discovery.entry_points import find_entry_points
from .._discovery.environment import read_environment
from .._discovery.loader import Loader
from .._resolution.resolver import Resolver
from .._state import initial_state, set_environment
from .._type_patterns import TypePattern
from .docstring import document
from .results import Results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._description.description import Description
    from .._discovery.catalog import Catalog
    from .._resolution.notices import Notices
    from .dispatcher import Dispatcher

_ROUNDS = 10
"""How often discovery runs if modules that it imports register backends each time.

A module whose import fails is imported, and may register a backend, in each run."""


class System(Protocol):
    """The part of `BackendSystem` that loading needs."""

    group: str | None
    environ_prefix: str
    protocol: str | None
    _fallback: str
    _registered: tuple[Description, ...]
    _defer_on: tuple[type[Exception], ...]
    _notices: Notices | None


def make_loader(
    system: System,
    dispatcher: Dispatcher,
    in_code: Sequence[Any],
    default_types: Sequence[str],
    secondary_types: Sequence[str] = (),
) -> Loader[Caller]:
    """Return the loader of a library.

    Parameters
    ----------
    system : BackendSystem
        The library's system.
    dispatcher : Dispatcher
        Its dispatcher.
    in_code : sequence of mapping or object
        Descriptions that the library itself passes.
    default_types : sequence of str
        Type patterns of the primary types of the default implementations.
    secondary_types : sequence of str, optional
        Those of their secondary types.
    """
    # Before there is a loader: with one, calls need it at once.
    dispatcher.results = Results(dispatcher)
    patterns = [tuple(map(TypePattern, each)) for each in (default_types, secondary_types)]
    discover = partial(_discover, system, dispatcher, in_code, *patterns)
    return Loader(discover, partial(_publish, dispatcher))


def reload(dispatcher: Dispatcher) -> None:
    """Discover the backends of a library again; see `BackendSystem.reload`."""
    invalidate_caches()
    dispatcher.ensure_loader().load(again=True)


def refresh(dispatcher: Dispatcher) -> None:
    """Look up implementations and attributes again; see `BackendSystem.refresh`."""
    caller = dispatcher.loaded
    if caller is not None:
        caller.resolver.forget_objects()
        dispatcher.keeper.forget_tables()
        dispatcher.backend_opts._forget()


def _discover(
    system: System,
    dispatcher: Dispatcher,
    in_code: Sequence[Any],
    default_types: Sequence[TypePattern],
    secondary_types: Sequence[TypePattern],
) -> Caller:
    """Find the backends by the current entry points and environment variables."""
    group = system.group
    entry_points, problems = find_entry_points(group) if group else ([], [])
    rounds = 0
    while True:
        rounds += 1
        registered = system._registered
        catalog = build_catalog(
            entry_points,
            in_code,
            default_types,
            read_environment(system.environ_prefix, environ),
            problems,
            group,
            secondary_types,
            [*dispatcher.by_identifier],
            dispatcher.default_name,
            registered,
        )
        # Done unless a module that was imported has registered a backend.
        if system._registered is registered or rounds == _ROUNDS:
            return _make_caller(system, dispatcher, catalog)


def _make_caller(system: System, dispatcher: Dispatcher, catalog: Catalog) -> Caller:
    given = system._fallback, system._notices
    if system.protocol is not None:
        from .overriding import make_caller  # few libraries have a protocol

        return make_caller(dispatcher, catalog, system.protocol, *given, system._defer_on)
    return Caller(Resolver(catalog, dispatcher.keeper, *given), system._defer_on)


def _publish(dispatcher: Dispatcher, caller: Caller) -> None:
    """Drop everything that depends on the earlier backends, and bring docstrings up to date.

    It is repeated as a whole if it was interrupted.

    The loader returns `caller` already. Until the tables are forgotten, another thread may still
    store a target of the earlier backends.
    """
    catalog, keeper = caller.catalog, dispatcher.keeper
    set_environment(keeper, initial_state(catalog))
    keeper.forget_tables()
    dispatcher.backend_opts._forget()
    for record in dispatcher.records:
        document(record, caller.resolver.docs(record.identifier))
