"""Backends that are inactive in every state: no block, thread or frozen function activates them."""

from __future__ import annotations

from .._identifiers import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._discovery.catalog import Catalog
    from .._state.state import DispatchState


class InactiveBackends:
    """The backends of a catalog that are inactive in all states; immutable.

    Parameters
    ----------
    catalog : Catalog
        The library's backends.
    states : iterable of DispatchState
        All states that are or may be in force.

    Attributes
    ----------
    catalog : Catalog
        As given.
    """

    __slots__ = ("_disabled", "_opt_in", "catalog")

    def __init__(self, catalog: Catalog, states: Iterable[DispatchState]) -> None:
        self.catalog = catalog
        # Sets, because there may be a thousand backends.
        opt_in = {name for name, each in catalog.descriptions.items() if each.requires_opt_in}
        disabled: frozenset[str] | None = None
        for state in states:
            opt_in.difference_update(state.prioritized)
            disabled = state.disabled if disabled is None else disabled & state.disabled
        self._opt_in = frozenset(opt_in)
        self._disabled = disabled or frozenset()

    def include(self, names: Iterable[str]) -> bool:
        """Whether all of these backends, apart from the default, are inactive."""
        return all(
            name == DEFAULT or name in self._opt_in or name in self._disabled for name in names
        )

    def without_activated(self, state: DispatchState) -> InactiveBackends:
        """Return the backends that stay inactive with a new state; this object if all do."""
        opt_in = self._opt_in.difference(state.prioritized)
        disabled = self._disabled & state.disabled
        if len(opt_in) == len(self._opt_in) and len(disabled) == len(self._disabled):
            return self
        found = InactiveBackends(self.catalog, ())
        found._opt_in, found._disabled = opt_in, disabled
        return found
