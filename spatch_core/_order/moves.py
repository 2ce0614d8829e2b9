"""The moves of backends to the places of others that they go before or after.

The module `ordering` says when a backend moves, and shows an example.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from .edges import Edge
from .graph import sort_stably, successors_of
from .groups import Group


def move(
    group_of: Mapping[str, Group],
    successors: Mapping[Group, Sequence[Group]],
    explicit: Iterable[Edge],
    specific: Iterable[tuple[Group, Group]],
) -> list[str]:
    """Return the names after the moves up and down (steps 2 and 3)."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for edge in explicit:
        if edge.moves_down:
            below.setdefault(edge.after, []).append(edge.before)
        else:
            above.setdefault(edge.before, []).append(edge.after)
    for narrow, wide in specific:
        names = [item.name for item in wide.members]
        for item in narrow.members:
            above.setdefault(item.name, []).extend(names)

    # A backend moves to the places of others, so those must have moved before: moves up start
    # with the last backend in the graph, moves down with the first.
    predecessors = successors_of(
        (after, before) for before, following in successors.items() for after in following
    )
    up = move_up(list(group_of), above, sort_stably(group_of, predecessors))
    # Moving down is moving up in the reversed order.
    from_below = dict(reversed(list(group_of.items())))
    return move_up(up[::-1], below, sort_stably(from_below, successors))[::-1]


def move_up(
    order: Sequence[str], above: Mapping[str, Sequence[str]], turns: Iterable[str]
) -> list[str]:
    """Move names up to the places of others.

    Parameters
    ----------
    order : sequence of str
        The names in their present order.
    above : mapping of str to sequence of str
        For each name that moves, other names; it moves before the first of them.
    turns : iterable of str
        The names in the order in which they move.

    Returns
    -------
    list of str
        The names in their new order. Names without an entry in `above` keep their order
        among themselves, and so do names that move to the same place.

    Examples
    --------
    >>> "".join(move_up("abcd", {"d": "cb"}, "abcd"))
    'adbc'
    >>> "".join(move_up("abcd", {"c": "a", "d": "a"}, "abcd"))
    'cdab'
    >>> "".join(move_up("abcd", {"a": "d"}, "abcd"))
    'abcd'
    """
    # Names are sorted by integer labels. A moved name gets a label halfway between two others, and
    # the other labels stay. The first gaps of 2**n suffice for n names that move once each.
    label = {name: number << len(order) for number, name in enumerate(order, 1)}
    labels = list(label.values())  # sorted
    for name in turns:
        if name in above:
            first = min([label[other] for other in above[name]])
            if first < label[name]:
                del labels[bisect_left(labels, label[name])]
                place = bisect_left(labels, first)
                label[name] = (first + (labels[place - 1] if place else 0)) // 2
                labels.insert(place, label[name])
    return sorted(label, key=label.__getitem__)
