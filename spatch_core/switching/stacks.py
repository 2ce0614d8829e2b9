"""The backends that are set, as a stack in the dispatch state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._options import checked_backend
from .._state import CURRENT, DispatchState, remembered

if TYPE_CHECKING:
    from .._options import BackendOptions


def stack_of(state: DispatchState) -> tuple[str, ...]:
    """Return the backends that are set, the current one first."""
    return remembered(state.backend, state.earlier)


def has_alone(state: DispatchState, name: str) -> bool:
    """Whether `switched` with this backend alone would leave a state as it is."""
    # A state with a backend has places.
    is_first = state.backend == name and state.places[0] == CURRENT
    return is_first and not state.earlier and name not in state.disabled


def switched(
    state: DispatchState, stack: tuple[str, ...], like: DispatchState | None = None
) -> DispatchState:
    """Return a state with another stack of backends.

    Parameters
    ----------
    state : DispatchState
        The value in force.
    stack : tuple of str
        The backends, the current one first; empty for none.
    like : DispatchState, optional
        A state to go back to, in which the backend keeps its place among the prioritized ones.
        Without it, the backend goes before all of them.
    """
    others = tuple([each for each in state.places if each != CURRENT])
    if not stack:
        return state.replace(prioritized=others, backend=None, earlier=())
    places = (CURRENT, *others)
    if like is not None:
        if stack == stack_of(like) and others == tuple([e for e in like.places if e != CURRENT]):
            places = like.places
        elif CURRENT in state.places:
            places = state.places
    return state.replace(
        prioritized=places,
        disabled=state.disabled - {stack[0]},
        backend=stack[0],
        earlier=stack[1:],
    )


def options_of(kind: Any, name: str) -> BackendOptions[Any]:
    """Return ``backend_opts(backend=name)``; in half the time if it was made before."""
    try:
        own = kind._plain[(), (), name]
    except (KeyError, TypeError):  # given for the first time, or not hashable
        own = None
    options: BackendOptions[Any]
    if own is None:  # outside the handler, so that an error has no KeyError as its context
        checked_backend(kind._owner, name)  # options take None, too
        options = kind(backend=name)
    else:
        # Past `__init__`: `own` is immutable and shared, `_entered` belongs to these options.
        options = object.__new__(kind)
        options._own, options._entered = own, []
    return options
