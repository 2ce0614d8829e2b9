"""Adds backends to a library at run time, and takes them away."""

from __future__ import annotations

from _thread import RLock
from typing import TYPE_CHECKING, Any, Protocol

from ._errors import REGISTERED, Source, UnknownBackendError, nearest
from ._parsing import parse_description

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._description import Description
    from ._dispatcher import Dispatcher


class System(Protocol):
    """The part of `BackendSystem` that registering needs."""

    _dispatcher: Dispatcher
    _registered: tuple[Description, ...]


_lock = RLock()
"""Held while `_registered` changes, so that threads that register at once lose nothing."""


def register(system: System, fields: Any) -> None:
    """Add a backend; see `BackendSystem.register`."""
    description = parse_description(
        fields, Source(REGISTERED), functions=tuple(system._dispatcher.by_identifier)
    )
    name = description.name

    def add() -> None:
        if any(each.name == name for each in system._registered):
            raise ValueError(
                f"a backend named {name!r} was registered before; unregister({name!r}) takes it "
                "away"
            )
        loaded = system._dispatcher.loaded
        known = None if loaded is None else loaded.catalog.descriptions.get(name)
        if known is not None and known.in_code:
            raise ValueError(
                f"the library itself has a backend named {name!r}; register it by another name"
            )
        _put(system, description, True)

    _change(system, description, add)


def unregister(system: System, name: str) -> None:
    """Take a backend away; see `BackendSystem.unregister`."""
    registered = {each.name: each for each in system._registered}
    if name not in registered:
        raise UnknownBackendError(
            name, registered, nearest(name, registered), "it was not registered at run time"
        )
    description = registered[name]
    _change(system, description, lambda: _put(system, description, False))


def _change(system: System, description: Description, change: Callable[[], None]) -> None:
    """Change the registered backends, and load all again if any are loaded: both, or neither."""
    dispatcher = system._dispatcher
    try:
        with _lock:
            change()
        loader = dispatcher.ensure_loader()
        # A running discovery may have read the old ones. If none runs, and nothing is loaded, the
        # next call that needs backends discovers all.
        if loader.is_discovering or loader.loaded is not None:
            loader.load(again=True)
    # An interrupt, or a warning that is an error: agree with the backends that are in force now.
    except BaseException:
        with _lock:
            _put(system, description, _is_in_force(dispatcher, description))
        raise


def _put(system: System, description: Description, is_registered: bool) -> None:
    others = tuple(each for each in system._registered if each is not description)
    # Without a change, the tuple stays the same object: a discovery compares by identity.
    if is_registered != (len(others) < len(system._registered)):
        system._registered = (*others, description) if is_registered else others


def _is_in_force(dispatcher: Dispatcher, description: Description) -> bool:
    loaded = dispatcher.loaded
    found = None if loaded is None else loaded.catalog.descriptions.get(description.name)
    # The sources are compared, because discovery replaces a description that has requirements.
    return found is not None and found.source is description.source
