"""The protocol by which this room uses the library that options belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .._discovery import Catalog
from .state_keeper import StateKeeper


class Owner(Protocol):
    """A library, as its options use it; `Dispatcher` implements it."""

    keeper: StateKeeper

    @property
    def backend_opts(self) -> Callable[..., Any]:
        """The library's `BackendOptions`."""
        ...

    def catalog(self) -> Catalog:
        """Return the backends; discovers them if need be."""
        ...

    def check_type(self, cls: object) -> None:
        """Raise unless `cls` is a primary type of any backend."""
        ...

    def reload(self) -> None:
        """Discover the backends again."""
        ...

    def restore(self, kind: str, content: dict[str, Any]) -> Any:
        """Rebuild an object of the library from the content of a pickle."""
        ...
