"""Graphs, which the order and the check of the environment's variables rest on."""

from __future__ import annotations

import itertools

from spatch_core._order.graph import (
    components,
    cycle_through,
    find_cycle,
    sort_stably,
    successors_of,
)


def test_all_items_of_a_node_come_before_all_of_those_that_follow_it() -> None:
    """Backends of the same types are sorted as one node."""
    items = {"c": "late", "a": "early", "d": "late", "b": "early", "e": "apart"}
    assert sort_stably(items, {"early": ["late"]}) == ["a", "b", "c", "d", "e"]
    assert sort_stably(items, {"late": ["early"], "apart": ["early"]}) == list("cdeab")
    assert sort_stably(items, {"early": ["late"], "late": ["apart"]}) == list("abcde")
    assert sort_stably(items, {}) == list("cadbe")


def test_nodes_on_common_cycles_are_one_component() -> None:
    """What the search for cycles rests on."""
    cycles = [*itertools.pairwise("abca"), *itertools.pairwise("ded")]
    component = components(successors_of([*cycles, ("c", "d"), ("f", "a"), ("g", "h")]))
    families: dict[int, set[str]] = {}
    for node, number in component.items():
        families.setdefault(number, set()).add(node)
    assert sorted(map(sorted, families.values())) == [
        ["a", "b", "c"],
        ["d", "e"],
        ["f"],
        ["g"],
        ["h"],
    ]
    assert cycle_through([("a", "b"), ("b", "c"), ("c", "b"), ("c", "a")]) == ("b", "c", "b")


def test_the_first_cycle_is_found_among_several() -> None:
    """By the order of the arrows; arrows outside of it lead nowhere."""
    arrows = [("x", "d"), *itertools.pairwise("ded"), *itertools.pairwise("aba"), ("e", "a")]
    assert find_cycle(arrows) == ("d", "e", "d")
    assert find_cycle(arrows[::-1]) == ("b", "a", "b")
    assert find_cycle([("a", "b"), ("b", "c")]) == find_cycle([]) == ()
