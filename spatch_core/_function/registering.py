"""Adds backends to a library at run time, and takes them away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .._description.parsing import parse_description
from .._identifiers import nearest
from .._locks import Turn
from .._problems import REGISTERED, Source
from .._unknown_names import UnknownBackendError

if TYPE_CHECKING:
    from .._description.description import Description
    from .dispatcher import Dispatcher


class System(Protocol):
    """A `BackendSystem`, as far as registering needs it."""

    _dispatcher: Dispatcher
    _registered: tuple[Description, ...]


_turn = Turn()
"""Held while what is registered changes: two threads that register at once lose nothing."""


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
        system._registered = (*system._registered, description)

    _turn.run(add)
    _follow(system)


def unregister(system: System, name: str) -> None:
    """Take a backend away; see `BackendSystem.unregister`."""

    def remove() -> None:
        known = [each.name for each in system._registered]
        if name not in known:
            raise UnknownBackendError(
                name, known, nearest(name, known), "it was not registered at run time"
            )
        system._registered = tuple(each for each in system._registered if each.name != name)

    _turn.run(remove)
    _follow(system)


def _follow(system: System) -> None:
    """Let what was loaded follow; else the next call that needs backends discovers all."""
    if system._dispatcher.loaded is not None:
        system._dispatcher.ensure_loader().load(again=True)
