"""Type specificity: the pairs of backends where one has more specific types than the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .._description import Description
from .._patterns import ABSTRACT, EXACT, SUBCLASS

_BREADTH = {EXACT: 0, SUBCLASS: 1, ABSTRACT: 2}


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The types of a backend in the form that specificity compares. Compared by identity.

    Parameters
    ----------
    primary : frozenset of (str, int)
        Identifiers of the primary types, each with the breadth of its widest pattern.
    identifiers : frozenset of str
        The same without the breadths.
    supported : frozenset of str
        Identifiers of the primary and the secondary types.
    """

    primary: frozenset[tuple[str, int]]
    identifiers: frozenset[str]
    supported: frozenset[str]

    @classmethod
    def of(cls, description: Description) -> Profile:
        """Return the profile of a backend."""
        breadths: dict[str, int] = {}
        for pattern in description.primary_types:
            breadth = _BREADTH[pattern.prefix]
            breadths[pattern.identifier] = max(breadth, breadths.get(pattern.identifier, 0))
        secondary = {pattern.identifier for pattern in description.secondary_types}
        return cls(
            frozenset(breadths.items()), frozenset(breadths), frozenset(secondary.union(breadths))
        )

    def is_more_specific_than(self, other: Profile) -> bool:
        """Whether a backend of this profile goes before one of the other by its types.

        First rule: its primary types are a strict subset of the types that the other
        supports, and the opposite does not hold. Second rule, where the first favours
        neither: both name the same primary types, and this one names none more widely and
        at least one more narrowly (exact, then subclass, then abstract).

        ======================  ======================  =================
        this one                the other one           more specific
        ======================  ======================  =================
        ``A``                   ``A, B``                this one, rule 1
        ``A``, secondary ``B``  ``B``                   the other, rule 1
        ``A``, secondary ``B``  ``B``, secondary ``A``  neither
        ``A``                   ``~A``                  this one, rule 2
        ``A, ~B``               ``~A, B``               neither
        ======================  ======================  =================
        """
        below = self.identifiers < other.supported
        above = other.identifiers < self.supported
        if below != above:
            return below
        if self.identifiers != other.identifiers or self.primary == other.primary:
            return False
        others = dict(other.primary)
        return all(breadth <= others[identifier] for identifier, breadth in self.primary)


def more_specific(profiles: Iterable[Profile]) -> Iterator[tuple[Profile, Profile]]:
    """Yield the pairs of profiles where the first is more specific than the second.

    The result is the same as if all pairs were compared, but few are. Profiles with the
    same primary types differ only by breadths and by whether they have further types
    (`_within`). Of any other related pair, one supports all primary types of the other,
    among them the type that the fewest profiles support.
    """
    families: dict[frozenset[str], list[Profile]] = defaultdict(list)
    supporting: dict[str, dict[frozenset[str], list[Profile]]] = defaultdict(dict)
    for profile in profiles:
        families[profile.identifiers].append(profile)
        for identifier in profile.supported:
            supporting[identifier].setdefault(profile.identifiers, []).append(profile)
    for identifiers, family in families.items():
        yield from _within(family)
        if not identifiers:
            continue
        rarest = min(identifiers, key=lambda identifier: len(supporting[identifier]))
        for other_identifiers, others in supporting[rarest].items():
            if other_identifiers != identifiers:
                for other in others:
                    if identifiers < other.supported:
                        for profile in family:
                            if profile.is_more_specific_than(other):
                                yield profile, other


def _within(family: list[Profile]) -> Iterator[tuple[Profile, Profile]]:
    """Yield the related pairs of profiles with the same primary types."""
    kinds: dict[tuple[frozenset[tuple[str, int]], bool], list[Profile]] = defaultdict(list)
    for profile in family:
        kinds[profile.primary, profile.identifiers < profile.supported].append(profile)
    # Profiles of one kind compare alike, so one of each kind is compared.
    for first in kinds.values():
        for second in kinds.values():
            if first is not second and first[0].is_more_specific_than(second[0]):
                yield from ((narrow, wide) for narrow in first for wide in second)
