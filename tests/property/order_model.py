"""The priority order, as the rules P2 to P6 say it word by word: slow, and for few backends."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Pair = tuple[str, str]
Nearness = Sequence[Sequence[frozenset[str]]]

WIDTH = {"~": 1, "@": 2}


@dataclass(frozen=True)
class Described:
    """What a description says about the order."""

    name: str
    primary: tuple[str, ...]
    secondary: tuple[str, ...] = ()
    higher: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    in_code: bool = False


def closure(pairs: Iterable[Pair]) -> set[Pair]:
    """Every pair that is connected by steps (Warshall)."""
    reached = set(pairs)
    nodes = sorted({name for pair in reached for name in pair})
    for middle in nodes:
        for first in nodes:
            for last in nodes:
                if (first, middle) in reached and (middle, last) in reached:
                    reached.add((first, last))
    return reached


def across(pairs: Sequence[Pair], present: set[str]) -> set[Pair]:
    """The pairs of present names, including those joined by absent ones (P5)."""
    absent = closure(pair for pair in pairs if not set(pair) & present)
    absent |= {(name, name) for pair in pairs for name in pair if name not in present}
    joined = {
        (first, last)
        for (first, one), (two, last) in itertools.product(pairs, pairs)
        if (one, two) in absent
    }
    return {pair for pair in joined.union(pairs) if set(pair) <= present}


def identifier(pattern: str) -> str:
    return pattern.lstrip("~@")


def widths(backend: Described) -> dict[str, int]:
    found: dict[str, int] = {}
    for pattern in backend.primary:
        width = WIDTH.get(pattern[0], 0)
        found[identifier(pattern)] = max(width, found.get(identifier(pattern), 0))
    return found


def is_more_specific(first: Described, second: Described) -> bool:
    """P4: by strict subsets, else by prefixes."""
    one, two = widths(first), widths(second)
    if not one or not two:
        return False
    is_subset = one.keys() < set(map(identifier, second.primary + second.secondary))
    is_superset = two.keys() < set(map(identifier, first.primary + first.secondary))
    if is_subset != is_superset:
        return is_subset
    return one.keys() == two.keys() and one != two and all(one[key] <= two[key] for key in one)


def is_nearer(first: str, second: str, nearness: Nearness) -> bool:
    """P4: nearer for one dispatch type, and farther for none."""
    places = [
        [next((at for at, names in enumerate(each) if name in names), None) for each in nearness]
        for name in (first, second)
    ]
    pairs = [(one, two) for one, two in zip(*places, strict=True) if None not in (one, two)]
    comparisons = {(one > two) - (one < two) for one, two in pairs}
    return -1 in comparisons and 1 not in comparisons


def declared_pairs(backends: Iterable[Described]) -> set[Pair]:
    found = set()
    for each in backends:
        found |= {(each.name, other) for other in each.higher}
        found |= {(other, each.name) for other in each.lower}
    return found


def declared_in_force(backends: Sequence[Described], environment: set[Pair]) -> set[Pair]:
    """Declared edges between these backends that no path of the environment opposes."""
    present = {each.name for each in backends}
    settled = closure(environment)
    return {
        (first, second)
        for first, second in declared_pairs(backends)
        if {first, second} <= present and (second, first) not in settled
    }


def circling(backends: Sequence[Described], set_order: Sequence[Pair]) -> set[str]:
    """The backends on cycles of declared edges (P6)."""
    environment = across(set_order, {each.name for each in backends})
    declared = declared_in_force(backends, environment) - environment
    return {first for first, second in closure(declared) if first == second} - {"default"}


def without_cycles(weaker: set[Pair], stronger: set[Pair]) -> set[Pair]:
    """The weaker edges that are on no cycle, alone or together with stronger ones (P5)."""
    together = closure(weaker | stronger)
    return {(first, second) for first, second in weaker if (second, first) not in together}


def base_order(backends: Sequence[Described]) -> list[str]:
    in_code = [each.name for each in backends if each.in_code]

    def key(each: Described) -> tuple[bool, bool, int, str]:
        place = in_code.index(each.name) if each.in_code else len(in_code)
        is_abstract = any(pattern.startswith("@") for pattern in each.primary)
        return each.name != "default", is_abstract, place, each.name

    return [each.name for each in sorted(backends, key=key)]


def order_model(
    backends: Sequence[Described], set_order: Sequence[Pair] = (), nearness: Nearness = ()
) -> tuple[list[str], set[Pair]]:
    """Return the names by priority, and the edges in force; declarations on cycles are not."""
    present = {each.name: each for each in backends}
    environment = across(set_order, set(present))
    declared = declared_in_force(backends, environment)
    on_cycles = closure(declared - environment)
    declared = {pair for pair in declared if pair[::-1] not in on_cycles}
    explicit = environment | without_cycles(declared, environment)

    def apart(decide: set[Pair], stronger: set[Pair]) -> set[Pair]:
        return without_cycles({pair for pair in decide if pair[::-1] not in stronger}, stronger)

    pairs = set(itertools.permutations(present, 2))
    near = apart({pair for pair in pairs if is_nearer(*pair, nearness)}, explicit)
    specific = apart(
        {pair for pair in pairs if is_more_specific(present[pair[0]], present[pair[1]])},
        explicit | near,
    )
    edges = explicit | near | specific
    down = {(other, each.name) for each in backends for other in each.lower} - environment
    down -= {(each.name, other) for each in backends for other in each.higher}
    names = base_order(backends)
    for moves_down in (False, True):
        moving = edges & down if moves_down else (edges - down) | near | specific
        if moves_down:
            names.reverse()
            moving = {pair[::-1] for pair in moving}
        # Those that a backend goes before move before it does.
        for name in _sorted(names, {pair[::-1] for pair in _turned(edges, moves_down)}):
            targets = [names.index(other) for first, other in moving if first == name]
            place = names.index(name)
            if targets and min(targets) < place:
                names.insert(min(targets), names.pop(place))
        if moves_down:
            names.reverse()
    return _sorted(names, edges), edges


def _turned(edges: set[Pair], is_turned: bool) -> set[Pair]:
    return {pair[::-1] for pair in edges} if is_turned else edges


def _sorted(names: Sequence[str], edges: set[Pair]) -> list[str]:
    """Sort stably, so that every edge holds."""
    left, found = list(names), []
    while left:
        after = {second for first, second in edges if first in left}
        found.append(next(name for name in left if name not in after))
        left.remove(found[-1])
    return found
