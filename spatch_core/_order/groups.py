"""Groups of backends that the order treats alike, and the edges of type specificity.

A library may have 1,000 backends of the same few types. Between them there would be up to a
million edges of type specificity; between their groups there are a few.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._description import Description
from .edges import Edge
from .graph import components, successors_of
from .specificity import Profile, more_specific


class Group:
    """Backends with the same types, and with explicit edges to the same other backends.

    No edge of any kind leads from one member to another. Compared by identity.

    Parameters
    ----------
    profile : Profile
        Their types.
    after : frozenset of str
        The backends that go before them by explicit edges.
    places : tuple of int
        For each dispatch type of a call, the rank of the class that their patterns name; see
        `nearness`.

    Attributes
    ----------
    members : list of Description
        The backends, in base order.
    """

    __slots__ = ("after", "members", "places", "profile")

    def __init__(
        self, profile: Profile, after: frozenset[str], places: tuple[int, ...] = ()
    ) -> None:
        self.profile = profile
        self.after = after
        self.places = places
        self.members: list[Description] = []


def group_backends(
    descriptions: Iterable[Description],
    explicit: Iterable[Edge],
    nearness: Sequence[Sequence[frozenset[str]]] = (),
) -> dict[str, Group]:
    """Return the group of each backend by its name; the names keep the order given.

    Parameters
    ----------
    descriptions : iterable of Description
        The backends.
    explicit : iterable of Edge
        The explicit edges.
    nearness : sequence of sequence of frozenset of str, optional
        For each dispatch type of a call, sets of backends whose patterns name the same class, the
        nearest class first.
    """
    before: dict[str, set[str]] = {}
    after: dict[str, set[str]] = {}
    for edge in explicit:
        before.setdefault(edge.before, set()).add(edge.after)
        after.setdefault(edge.after, set()).add(edge.before)
    profiles: dict[object, Profile] = {}
    groups: dict[object, Group] = {}
    found: dict[str, Group] = {}
    for item in descriptions:
        profile = Profile.of(item)
        profile = profiles.setdefault((profile.primary, profile.supported), profile)
        follows = frozenset(after.get(item.name, ()))
        places = tuple([_place(item.name, by_distance) for by_distance in nearness])
        key = profile, follows, frozenset(before.get(item.name, ())), places
        group = groups.setdefault(key, Group(profile, follows, places))
        group.members.append(item)
        found[item.name] = group
    return found


def _place(name: str, by_distance: Sequence[frozenset[str]]) -> int:
    """Return the position of the set that contains `name`, else -1."""
    for place, names in enumerate(by_distance):
        if name in names:
            return place
    return -1


def specificity_edges(
    group_of: dict[str, Group],
    explicit: Iterable[Edge],
    nearness: Sequence[tuple[Group, Group]] = (),
) -> list[tuple[Group, Group]]:
    """Return the edges of type specificity in force.

    Parameters
    ----------
    group_of : dict of str to Group
        The group of each backend, as `group_backends` returns it.
    explicit : iterable of Edge
        The explicit edges, free of cycles.
    nearness : sequence of (Group, Group), optional
        The edges of nearness, which form no cycle with the explicit ones.

    Returns
    -------
    list of (Group, Group)
        The types of the first are more specific. No explicit edge or edge of nearness says the
        opposite, and together with these the edges form no cycle.
    """
    by_profile: dict[Profile, list[Group]] = {}
    for group in dict.fromkeys(group_of.values()):
        by_profile.setdefault(group.profile, []).append(group)
    nearer = set(nearness)
    edges = [
        (narrow, wide)
        for first, second in more_specific(by_profile)
        for narrow in by_profile[first]
        for wide in by_profile[second]
        # All members of a group have the same explicit edges, so checking one is enough.
        if wide.members[0].name not in narrow.after and (wide, narrow) not in nearer
    ]
    stated = [(group_of[edge.before], group_of[edge.after]) for edge in explicit]
    component = components(successors_of([*stated, *nearness, *edges]))
    return [(narrow, wide) for narrow, wide in edges if component[narrow] != component[wide]]
