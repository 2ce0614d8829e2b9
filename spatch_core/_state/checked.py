"""From what users write to a dispatch state: names and types are checked, once.

Two caches, cleared together: by `CheckedOptions.forget`, because the backends have changed,
and when `MAX_OPTIONS` combinations are kept. Both map to the state that a block of the
options describes, the same object for the same backends however they are spelled, because
scopes of inner blocks are found by its identity (see `scope`).

===========  =======================================================================
cache        key
===========  =======================================================================
prioritized  ``prioritize``, where nothing else is given
plain        ``prioritize`` and ``disable``, as strings or tuples; besides, for each
             entry, the names and the set of names that both mean
===========  =======================================================================
"""

from __future__ import annotations

from .state import DispatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .._discovery.catalog import Catalog
    from .keeper import Owner
    from .state import Class

MAX_OPTIONS = 256


class CheckedOptions:
    """Options of one library, whose names and types are those of its backends.

    Parameters
    ----------
    owner : Owner
        The library's system.
    """

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self.prioritized: dict[Any, DispatchState] = {}
        self.plain: dict[Any, DispatchState] = {}

    def check(
        self,
        prioritize: str | Iterable[str],
        disable: str | Iterable[str],
        type: Class | None,
        trace: bool,
    ) -> DispatchState:
        """Return the state that a block of these options describes.

        Raises
        ------
        UnknownBackendError, UnknownTypeError
            For a name or a type that no backend has.
        TypeError
            If `type` is not a class, or names are not names.
        """
        catalog = self._owner.catalog()
        if type is not None:
            self._owner.check_type(type)
        names = _checked_names(prioritize, catalog)
        disabled = frozenset(_checked_names(disable, catalog))
        if type is not None or trace:
            # Not kept, because it refers to more than names.
            return DispatchState(names, disabled, type, _new_trace() if trace else None)
        state = self.plain.get((names, disabled))
        if state is None:
            if len(self.plain) >= MAX_OPTIONS:
                self.forget()
            # In one step: two threads that come here at once get the same object.
            state = self.plain.setdefault((names, disabled), DispatchState(names, disabled))
        if _is_constant(prioritize) and _is_constant(disable):
            self.plain[prioritize, disable] = state
            if disable == ():
                self.prioritized[prioritize] = state
        return state

    def forget(self) -> None:
        """Check names again, because the backends have changed."""
        self.prioritized.clear()
        self.plain.clear()


def _new_trace() -> Any:
    from .trace import Trace  # imports more than a library needs

    return Trace()


def _is_constant(names: object) -> bool:
    """Whether the same `names` will mean the same backends next time."""
    return type(names) is str or type(names) is tuple


def _checked_names(names: str | Iterable[str], catalog: Catalog) -> tuple[str, ...]:
    names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    for name in names:
        catalog.check_backend(name)
    return names
