"""Backends in a few words, and their order."""

from __future__ import annotations

import random

from spatch_core._description.description import Description
from spatch_core._discovery.environment import read_environment
from spatch_core._order.edges import Strength
from spatch_core._order.ordering import Order, order_backends
from spatch_core._type_patterns import TypePattern


def backend(
    name: str,
    primary: str = "m:A",
    secondary: str = "",
    higher: str = "",
    lower: str = "",
    in_code: bool = False,
) -> Description:
    """Describe a backend; several types or names are separated by spaces."""
    return Description(
        name,
        tuple(map(TypePattern, primary.split())),
        tuple(map(TypePattern, secondary.split())),
        higher_priority_than=tuple(higher.split()),
        lower_priority_than=tuple(lower.split()),
        in_code=in_code,
    )


LIBRARY = backend("default", "numpy:ndarray", in_code=True)


def pairs(set_order: str) -> tuple[tuple[str, str], ...]:
    environment = read_environment("LIB", {"LIB_SET_ORDER": set_order})
    assert environment.problems == ()
    return environment.set_order


def order(*backends: Description, set_order: str = "") -> Order:
    """Order backends; the order in which they are found must not matter."""
    found = order_backends([LIBRARY, *backends], pairs(set_order), "LIB_SET_ORDER")
    shuffled = [each for each in backends if not each.in_code]
    in_code = [each for each in backends if each.in_code]
    for seed in range(3):
        random.Random(seed).shuffle(shuffled)
        other = order_backends([*shuffled, *in_code, LIBRARY], pairs(set_order))
        assert other.names == found.names
        assert [cycle.members for cycle in other.cycles] == [
            cycle.members for cycle in found.cycles
        ]
        assert [cycle.set_order for cycle in other.cycles] == [
            cycle.set_order for cycle in found.cycles
        ]
    return found


def names(*backends: Description, set_order: str = "") -> str:
    """The order without the default in front; no backend may be missing."""
    found = order(*backends, set_order=set_order)
    assert found.cycles == ()
    assert sorted(found.names) == sorted(["default", *(each.name for each in backends)])
    return " ".join(found.names).removeprefix("default ")


def edges(found: Order, strength: Strength) -> set[str]:
    return {f"{e.before}>{e.after}" for e in found.edges() if e.strength is strength}


def ring(*members: str) -> list[Description]:
    """Backends that each declare to go before the next one, and the last before the first."""
    following = dict(zip(members, (*members[1:], members[0]), strict=True))
    return [backend(name, f"m:{name.upper()}", higher=after) for name, after in following.items()]
