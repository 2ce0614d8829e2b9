"""The walk along the backends: the candidates of a call in order, and why others are not.

`Walk` is the one place where backends are judged, and where candidates are ordered. The candidates
of a call are the steps of the walk without a verdict; an explanation shows these and all others,
with the reasons that `reasons` puts into words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from .._identifiers import DEFAULT
from .._order.edges import Cycle
from .._state import DispatchState
from .candidate_order import CandidateOrder
from .golden_rule import GoldenRule, Standing
from .matching import Matcher, TypeMatch
from .walk_step import Step

if TYPE_CHECKING:
    from .explanation import Verdict


class MatchedType(NamedTuple):
    """A dispatch type, and which backends know it."""

    cls: type
    match: TypeMatch


class Walk:
    """The backends that a call of one function meets, in order.

    Parameters
    ----------
    function : str
        Identifier of the library's function.
    state : DispatchState
        The state in force.
    types : iterable of type
        The dispatch types, including the state's type.
    rule : GoldenRule
        The library's.
    matcher : Matcher
        The library's.
    order : CandidateOrder
        The library's.
    counts : callable, optional
        Whether a type counts, whatever backends know it.

    Attributes
    ----------
    default_matches : bool
        Whether the default implementation matches. Then no merely installed backend answers.
    types : tuple of type
        The dispatch types.
    foreign : tuple of type
        The types that are neither Python's own classes nor known to the default.
    counting : list of MatchedType
        The types that count.
    riding : list of MatchedType
        The types that do not count, because the default matches without them.
    cycles : dict of str to Cycle
        The candidates that were skipped so far, each with its cycle.
    function, state, rule, order
        As they were given.
    """

    def __init__(
        self,
        function: str,
        state: DispatchState,
        types: Iterable[type],
        rule: GoldenRule,
        matcher: Matcher,
        order: CandidateOrder,
        counts: Callable[[type], bool] | None = None,
    ) -> None:
        self.order = order
        self.cycles: dict[str, Cycle] = {}
        self.function = function
        self.state = state
        self.rule = rule
        self._matcher = matcher
        self.types = tuple(types)
        self._matches: list[TypeMatch] = []
        self.counting: list[MatchedType] = []
        self.riding: list[MatchedType] = []
        known: list[MatchedType] = []
        foreign = []
        for cls in self.types:
            match = matcher.match(cls)
            self._matches.append(match)
            if DEFAULT not in match.known and not match.is_builtin:
                foreign.append(cls)
            # The type that the user names always counts.
            always = cls is state.type or (counts is not None and counts(cls))
            if always or rule.counts(match, function, state):
                known.append(MatchedType(cls, match))
                rides = not always and rule.rides_along(match, function, state)
                (self.riding if rides else self.counting).append(known[-1])
        self.foreign = tuple(foreign)
        # The current backend matches if all types are Python's own.
        self._current = None
        if state.backend is not None and state.type is None and not self._says_something:
            self._current = state.backend
        self.default_matches = DEFAULT not in state.disabled and self.matches(DEFAULT)
        if not self.default_matches:
            self.counting, self.riding = known, []

    @property
    def _says_something(self) -> bool:
        """Whether a dispatch type decides: it is not Python's own, or the library lists it."""
        return any(DEFAULT in each.known or not each.is_builtin for each in self._matches)

    def matches(self, name: str) -> bool:
        """Whether a backend knows every type that counts, one as a primary type.

        The current backend matches too where the types say nothing.
        """
        if name == self._current:
            return True
        has_primary = False
        for _, match in self.counting:
            if name in match.primary:
                has_primary = True
            elif name not in match.known:
                return False
        return has_primary

    def candidates(self, implementers: frozenset[str]) -> Iterator[Step]:
        """Yield the steps of the candidates in the order in which a call meets them.

        Sets of backends are judged at once; there may be a thousand candidates.

        Parameters
        ----------
        implementers : frozenset of str
            The backends that implement the function, the default among them.
        """
        prioritized = [
            name
            for name in self.state.prioritized
            if name in implementers and name not in self.state.disabled and self.matches(name)
        ]
        # Yielded first: the others are not computed if one of these answers.
        current = self._current
        yield from (Step(name, None, False, name == current) for name in prioritized)
        names = self._candidates(implementers).difference(prioritized)
        nearness = tuple([each.match.nearness for each in self.counting])
        specific = frozenset[str]().union(*[names & each.match.specific for each in self.counting])
        # Rank by rank, on demand: most calls need the first candidate alone.
        for rank in self.order.ranks(names, self.rule.placed, specific):
            found = self.order.order(rank, nearness)
            self.cycles.update(found.skipped)
            yield from (Step(name, None) for name in found.names)
        if not self.default_matches:
            yield Step(DEFAULT, None, is_last_resort=True)

    def _candidates(self, implementers: frozenset[str]) -> frozenset[str]:
        """Return the active implementers that match and may answer."""
        names = self.rule.active(implementers, self.state, self.default_matches)
        # Intersected with `names` first: a type may be primary for a thousand backends.
        names = frozenset[str]().union(*[names & each.match.primary for each in self.counting])
        for each in self.counting:
            names &= each.match.known
        return names | {DEFAULT} if self.default_matches else names - {DEFAULT}

    def steps(self, names: Iterable[str], implementers: frozenset[str]) -> Iterator[Step]:
        """Yield a step for every backend, the candidates in the order of the call.

        Backends that are no candidates keep their places among `names`. The default is a
        candidate if it matches, and comes last otherwise.

        Parameters
        ----------
        names : iterable of str
            All backends in the library's order.
        implementers : frozenset of str
            Those that implement the function, the default among them.
        """
        from .explanation import Verdict  # calls ask for candidates alone

        # All of them first: `cycles` is complete only when the generator has ended.
        ordered = list(self.candidates(implementers))
        candidates = {step.backend for step in ordered}
        following = iter(ordered)
        for name in self.state.ordered(names):
            if name == DEFAULT and not self.default_matches:
                continue
            if name in candidates:
                yield next(following)
            elif name in self.cycles:
                yield Step(name, Verdict.SKIPPED)
            else:
                yield Step(name, self._why_no_candidate(name, implementers))
        yield from following

    def _why_no_candidate(self, name: str, implementers: frozenset[str]) -> Verdict:
        from .explanation import Verdict  # as above

        # First: to prioritize a backend that lacks the function would change nothing.
        if name not in implementers and name not in self.rule.unmet:
            return Verdict.NO_IMPLEMENTATION
        if self.rule.standing(name, self.state) is Standing.INACTIVE:
            return Verdict.INACTIVE
        return Verdict.LATER if self.matches(name) else Verdict.NO_MATCH

    @property
    def awaited(self) -> list[str]:
        """Modules not imported yet whose import may change the candidates."""
        return [
            pattern.module
            for match in self._matches
            for pattern in match.aliases
            if self._can_change(self._matcher.backends_of(pattern))
        ]

    @property
    def depends_on_registration(self) -> bool:
        """Whether ``register`` of an abstract base class may change the candidates."""
        return self._can_change(self._matcher.abstract)

    def _can_change(self, names: frozenset[str]) -> bool:
        """Whether the candidates may change if a backend among `names` knows one more type.

        If all are primary types of the default, it always matches, and only a chosen backend
        precedes it.
        """
        settled = self.default_matches and all(DEFAULT in each.primary for each in self._matches)
        if DEFAULT in names and not settled:
            return True
        return self.rule.has_say(names, self.function, self.state, settled)
