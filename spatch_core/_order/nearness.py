"""Nearness: of two backends, the one whose pattern names the nearer class goes first.

The types of a description do not say which class is derived from which. The dispatch types of
a call do, by their MROs: for an instance of ``Sub``, a backend of ``m:Sub`` is nearer than one of
``~m:Base``. So there are edges of nearness only where the candidates of a call are ordered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .edges import Edge
from .graph import components, successors_of
from .groups import Group


def nearness_edges(
    group_of: Mapping[str, Group], explicit: Iterable[Edge]
) -> list[tuple[Group, Group]]:
    """Return the edges of nearness in force.

    Parameters
    ----------
    group_of : mapping of str to Group
        The group of each backend, as `group_backends` returns it.
    explicit : iterable of Edge
        The explicit edges, free of cycles.

    Returns
    -------
    list of (Group, Group)
        The first is nearer. No explicit edge says the opposite, and together with the explicit
        edges these form no cycle.
    """
    by_places: dict[tuple[int, ...], list[Group]] = {}
    for group in dict.fromkeys(group_of.values()):
        by_places.setdefault(group.places, []).append(group)
    if len(by_places) < 2:
        return []
    edges = [
        (near, far)
        for first in by_places
        for second in by_places
        if is_nearer(first, second)
        for near in by_places[first]
        for far in by_places[second]
        # All members of a group have the same explicit edges, so checking one is enough.
        if far.members[0].name not in near.after
    ]
    stated = [(group_of[edge.before], group_of[edge.after]) for edge in explicit]
    component = components(successors_of([*stated, *edges]))
    return [(near, far) for near, far in edges if component[near] != component[far]]


def is_nearer(first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether a backend with the `first` places is nearer than one with the `second`.

    It must be nearer for one dispatch type, and farther away for none. At place -1, the type is not
    a primary type of the backend, or only by an abstract pattern.

    >>> is_nearer((0, 1), (2, 1)), is_nearer((0, 1), (2, 0)), is_nearer((0, -1), (0, 3))
    (True, False, False)
    """
    pairs = [(one, two) for one, two in zip(first, second, strict=True) if min(one, two) >= 0]
    return any(one < two for one, two in pairs) and all(one <= two for one, two in pairs)
