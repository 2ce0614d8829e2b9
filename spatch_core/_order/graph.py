"""Directed graphs: reachability, components, cycles, and a stable topological sort."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)


def successors_of(arrows: Iterable[tuple[Node, Node]]) -> dict[Node, list[Node]]:
    """Return the successors of each node; a node without any has an empty list.

    >>> successors_of([("a", "b"), ("a", "c")])
    {'a': ['b', 'c'], 'b': [], 'c': []}
    """
    successors: dict[Node, dict[Node, None]] = {}
    for first, second in arrows:
        successors.setdefault(first, {})[second] = None
        successors.setdefault(second, {})
    return {node: list(following) for node, following in successors.items()}


def reached_from(first: Node, successors: Mapping[Node, Sequence[Node]]) -> set[Node]:
    """Return every node that arrows lead to from `first`, in one step or several.

    >>> sorted(reached_from("a", {"a": ["b"], "b": ["c"]}))
    ['b', 'c']
    """
    reached: set[Node] = set()
    waiting = [first]
    while waiting:
        for node in successors.get(waiting.pop(), ()):
            if node not in reached:
                reached.add(node)
                waiting.append(node)
    return reached


def components(successors: Mapping[Node, Sequence[Node]]) -> dict[Node, int]:
    """Return the number of each node's strongly connected component.

    Two nodes have the same number where a cycle goes through both. This is Tarjan's
    algorithm (SIAM J. Comput. 1, 146, 1972), without recursion.

    >>> components({"a": ["b"], "b": ["a", "c"], "c": []})
    {'c': 2, 'b': 0, 'a': 0}
    """
    component: dict[Node, int] = {}
    index: dict[Node, int] = {}  # in the order of discovery
    low: dict[Node, int] = {}  # the lowest index known to be reachable within the component
    open_nodes: list[Node] = []  # discovered nodes without a component
    for root in successors:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        # The path of the depth-first search, with the successors that are still to be visited.
        work = [(root, iter(successors[root]))]
        while work:
            node, following = work[-1]
            for other in following:
                if other not in index:
                    index[other] = low[other] = len(index)
                    open_nodes.append(other)
                    work.append((other, iter(successors[other])))
                    break
                if other not in component:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    # The first node of its component: all later open nodes belong to it.
                    other = open_nodes.pop()
                    while other != node:
                        component[other] = index[node]
                        other = open_nodes.pop()
                    component[node] = index[node]
    return component


def cycle_through(arrows: Sequence[tuple[Node, Node]]) -> tuple[Node, ...]:
    """Return a cycle among the arrows of one component, its first node repeated at the end.

    >>> cycle_through([("a", "b"), ("b", "c"), ("c", "b")])
    ('b', 'c', 'b')
    """
    successors = successors_of(arrows)
    path = [arrows[0][0]]
    while path[-1] not in path[:-1]:
        path.append(successors[path[-1]][0])
    return tuple(path[path.index(path[-1]) :])


def find_cycle(arrows: Sequence[tuple[Node, Node]]) -> tuple[Node, ...]:
    """Return the first cycle among arrows, its first node repeated at the end; empty without.

    >>> find_cycle([("a", "b"), ("b", "c"), ("c", "b")])
    ('b', 'c', 'b')
    >>> find_cycle([("a", "b")])
    ()
    """
    component = components(successors_of(arrows))
    inside = [pair for pair in arrows if component[pair[0]] == component[pair[1]]]
    first = [pair for pair in inside if component[pair[0]] == component[inside[0][0]]]
    return cycle_through(first) if first else ()


def sort_stably(
    items: Mapping[Item, Node], successors: Mapping[Node, Sequence[Node]]
) -> list[Item]:
    """Sort items topologically, keeping their order wherever the arrows allow it.

    Parameters
    ----------
    items : mapping
        The items in the order to keep, each with the node that it belongs to.
    successors : mapping
        The successors of each node; free of cycles. All items of a node come before all
        items of its successors.

    Returns
    -------
    list
        At each step, the first item in the given order whose node has no predecessor with
        items left.

    Examples
    --------
    >>> sort_stably({"a": 1, "b": 2, "c": 3}, {3: [1]})
    ['b', 'c', 'a']
    """
    order = list(items)
    members: dict[Node, list[int]] = {}
    for position, item in enumerate(order):
        members.setdefault(items[item], []).append(position)
    waiting_for = dict.fromkeys(members, 0)
    for following in successors.values():
        for other in following:
            waiting_for[other] += 1
    unplaced = {node: len(positions) for node, positions in members.items()}
    # Positions of the items whose nodes have no predecessors left.
    ready = [p for node, count in waiting_for.items() if not count for p in members[node]]
    heapq.heapify(ready)
    result = []
    while ready:
        item = order[heapq.heappop(ready)]
        result.append(item)
        node = items[item]
        unplaced[node] -= 1
        if unplaced[node]:
            continue
        for other in successors.get(node, ()):
            waiting_for[other] -= 1
            if not waiting_for[other]:
                for position in members[other]:
                    heapq.heappush(ready, position)
    return result
