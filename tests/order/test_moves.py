"""P7: backends move to the places of others; test_ordering shows the purpose."""

from __future__ import annotations

import random

from spatch_core._order.moves import move_up


def test_names_that_move_to_the_same_place_keep_their_order() -> None:
    """The order of the moves decides only which places are known already."""
    assert move_up("abcd", {"c": "a", "d": "a"}, "cd") == list("cdab")
    assert move_up("abcd", {"c": "a", "d": "c"}, "cd") == list("dcab")


def test_each_move_goes_to_just_before_the_first_of_its_names() -> None:
    """P7: as in a list, also where hundreds move to one place."""
    chance = random.Random(7)
    for size in [*range(2, 12)] * 5 + [300]:
        order = [f"b{number}" for number in range(size)]
        above = {name: chance.choices(order, k=chance.randrange(1, 4)) for name in order}
        above[order[-1]] = order[:1]
        turns = chance.sample(order, size)
        expected = list(order)
        for name in turns:
            first = min(map(expected.index, above[name]))
            if first < expected.index(name):
                expected.remove(name)
                expected.insert(first, name)
        assert move_up(order, above, turns) == expected
