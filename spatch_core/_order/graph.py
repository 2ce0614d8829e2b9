"""Directed graphs: components, cycles, and a topological order that is stable."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)


def successors_of(arrows: Iterable[tuple[Node, Node]]) -> dict[Node, list[Node]]:
    """Return what follows each node; a node without followers has an empty list."""
    successors: dict[Node, dict[Node, None]] = {}
    for first, second in arrows:
        successors.setdefault(first, {})[second] = None
        successors.setdefault(second, {})
    return {node: list(following) for node, following in successors.items()}


def components(successors: Mapping[Node, Sequence[Node]]) -> dict[Node, int]:
    """Return the number of each node's strongly connected component.

    Tarjan's algorithm (SIAM J. Comput. 1, 146, 1972), without recursion.
    """
    component: dict[Node, int] = {}
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    open_nodes: list[Node] = []
    for root in successors:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        open_nodes.append(root)
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
                    other = open_nodes.pop()
                    while other != node:
                        component[other] = index[node]
                        other = open_nodes.pop()
                    component[node] = index[node]
    return component


def cycle_through(arrows: Sequence[tuple[Node, Node]]) -> tuple[Node, ...]:
    """Return a cycle among the arrows of one component, its first node repeated at the end."""
    successors = successors_of(arrows)
    path = [arrows[0][0]]
    while path[-1] not in path[:-1]:
        path.append(successors[path[-1]][0])
    return tuple(path[path.index(path[-1]) :])


def sort_stably(
    items: Mapping[Item, Node], successors: Mapping[Node, Sequence[Node]]
) -> list[Item]:
    """Sort items topologically, keeping their order wherever the arrows allow it.

    Parameters
    ----------
    items : mapping
        The items in the order to keep, each with the node that it belongs to.
    successors : mapping
        What follows each node; free of cycles. All items of a node come before all items
        of the nodes that follow it.

    Returns
    -------
    list
        Of the items that nothing holds back, the first in order comes next.
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
