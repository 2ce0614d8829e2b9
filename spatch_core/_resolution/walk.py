"""The walk along the backends: which are candidates of a call, in which order, and why others not.

`Walk` is the one place where a backend is judged, and where candidates are ordered. The candidates
of a call are the steps of the walk without a verdict; an explanation shows all steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from .._classes import type_identifier
from .._identifiers import DEFAULT
from .._order.edges import Cycle
from .._state.state import DispatchState
from .candidate_order import CandidateOrder, Rank
from .explanation import Verdict
from .golden_rule import GoldenRule, Standing, Weight
from .matching import Matcher, TypeMatch

LAST_RESORT = "nothing else answers"


class Step(NamedTuple):
    """One backend on the walk.

    Parameters
    ----------
    backend : str
        Its name.
    verdict : Verdict or None
        Why it is no candidate; None for a candidate.
    is_last_resort : bool
        Whether it is the default that does not match, which answers where no backend does.
    """

    backend: str
    verdict: Verdict | None
    is_last_resort: bool = False


class WeighedType(NamedTuple):
    """A dispatch type that counts.

    Parameters
    ----------
    cls : type
        The type.
    match : TypeMatch
        Which backends know it.
    counts_for_all : bool
        Whether it counts for backends that do not know it, too.
    """

    cls: type
    match: TypeMatch
    counts_for_all: bool


class Walk:
    """The backends that a call of one function meets, in order.

    Parameters
    ----------
    function : str
        Identifier of the library's function.
    state : DispatchState
        The state in force.
    types : iterable of type
        The dispatch types, the state's own among them.
    rule : GoldenRule
        Of the library.
    matcher : Matcher
        Of the library.
    order : CandidateOrder
        Of the library.

    Attributes
    ----------
    default_matches : bool
        Whether the default implementation matches. Then no merely installed backend answers.
    """

    def __init__(
        self,
        function: str,
        state: DispatchState,
        types: Iterable[type],
        rule: GoldenRule,
        matcher: Matcher,
        order: CandidateOrder,
    ) -> None:
        self._order = order
        self._cycles: dict[str, Cycle] = {}
        self._function = function
        self._state = state
        self._rule = rule
        self._matcher = matcher
        self._matches = []
        self._types = []
        for cls in types:
            match = matcher.match(cls)
            self._matches.append(match)
            weight = rule.weight(match, function, state)
            if weight is not Weight.NONE:
                self._types.append(WeighedType(cls, match, weight is Weight.ALL))
        self.default_matches = DEFAULT not in state.disabled and self.matches(DEFAULT)

    def matches(self, name: str) -> bool:
        """Whether a backend knows every type that counts for it, one as a primary type."""
        has_primary = False
        for _, match, counts_for_all in self._types:
            if name in match.primary:
                has_primary = True
            elif counts_for_all and name not in match.known:
                return False
        return has_primary

    def contenders(self, implementers: frozenset[str]) -> frozenset[str]:
        """Return the implementers that may be candidates; `steps` would reject all others.

        It is a matter of cost alone: sets are compared at once, a backend is judged by itself.
        """
        names = implementers
        if self.default_matches:
            names &= self._rule.chosen(self._state)
        primary = frozenset[str]().union(*[each.match.primary for each in self._types])
        names &= primary
        for _, match, counts_for_all in self._types:
            if counts_for_all:
                names &= match.known
        return names | {DEFAULT}

    def steps(self, names: Iterable[str], implements: Callable[[str], bool]) -> Iterator[Step]:
        """Judge backends, and order the candidates among themselves.

        A backend that is no candidate stays where it stands among `names`. The default is a
        candidate where it matches, and comes last where it does not.

        Parameters
        ----------
        names : iterable of str
            Backends in the library's order, the default among them.
        implements : callable
            Whether a backend implements the function, given its name.
        """
        prioritized = self._state.prioritized
        judged: dict[str, Verdict | None] = {}
        for name in self._state.ordered(names):
            if name == DEFAULT:
                if not self.default_matches:
                    continue
                verdict = None
            else:
                verdict = self._judge(name, implements)
            if name in prioritized:
                # At once: the others need not be judged if it answers.
                yield Step(name, verdict)
            else:
                judged[name] = verdict
        candidates = iter(self._ordered([name for name in judged if judged[name] is None]))
        for name, verdict in judged.items():
            if name in self._cycles:
                yield Step(name, Verdict.SKIPPED)
            elif verdict is None:
                yield Step(next(candidates), None)
            else:
                yield Step(name, verdict)
        if not self.default_matches:
            yield Step(DEFAULT, None, is_last_resort=True)

    def _ordered(self, candidates: Iterable[str]) -> list[str]:
        """Order the candidates, and take note of those that are skipped."""
        ranks: dict[Rank, list[str]] = {}
        for name in candidates:
            ranks.setdefault(self._rank(name), []).append(name)
        nearness = tuple([each.match.nearness for each in self._types])
        ordered: list[str] = []
        for rank in sorted(ranks):
            found = self._order.order(frozenset(ranks[rank]), nearness)
            ordered += found.names
            self._cycles.update(found.skipped)
        return ordered

    def _rank(self, name: str) -> Rank:
        is_chosen = (
            name == DEFAULT or self._rule.standing(name, self._state) is not Standing.INSTALLED
        )
        is_specific = any(name in each.match.specific for each in self._types)
        return self._order.rank(name, is_chosen, is_specific)

    def _judge(self, name: str, implements: Callable[[str], bool]) -> Verdict | None:
        """Return why a backend is no candidate, or None for a candidate."""
        standing = self._rule.standing(name, self._state)
        if standing is Standing.INACTIVE:
            return Verdict.INACTIVE
        if not implements(name):
            return Verdict.NO_IMPLEMENTATION
        if not self.matches(name):
            return Verdict.NO_MATCH
        return None if standing.may_answer(self.default_matches) else Verdict.LATER

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
        """Whether it matters that a backend among `names` turns out to know a type.

        Where the default matches, and goes on to match because it knows every type, only a
        chosen backend goes before it.
        """
        if self._is_settled:
            return self._rule.has_chosen(names, self._state)
        return self._rule.has_part(names, self._function, self._state)

    @property
    def _is_settled(self) -> bool:
        return self.default_matches and all(DEFAULT in match.known for match in self._matches)

    def reason(self, step: Step) -> str:
        """Say in words why a backend is no candidate, or why the default is the last resort."""
        name, verdict = step.backend, step.verdict
        if step.is_last_resort:
            return LAST_RESORT
        if verdict is Verdict.INACTIVE:
            disabled = name in self._state.disabled
            return "it is disabled" if disabled else f"it requires opt-in: prioritize={name!r}"
        if verdict is Verdict.LATER:
            return "the library's own types are its own unless a backend is prioritized"
        if verdict is Verdict.SKIPPED:
            return self._order.why_skipped(self._cycles[name])
        if verdict is Verdict.NO_MATCH:
            return self._why_no_match(name)
        return ""

    def _why_no_match(self, name: str) -> str:
        if not self._types:
            return "no active backend that implements it knows any of the types"
        unknown = [
            type_identifier(each.cls)
            for each in self._types
            if each.counts_for_all and name not in each.match.known
        ]
        if unknown:
            return f"it does not know {', '.join(unknown)}"
        return "none of the types is a primary type of it"
