"""Conversions as candidates: the last resort of foreign types under the policy "convert".

A backend that has ``to_default`` and ``from_default`` thereby implements every function. The
rules of matching and of order are those of other candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._classes import type_identifier
from .._discovery.catalog import Catalog
from .._dispatch_arguments import ASYNC_GENERATOR, GENERATOR, Function
from .._identifiers import DEFAULT
from .._state import DispatchState
from .candidate import Candidate
from .candidate_order import CandidateOrder
from .golden_rule import GoldenRule
from .matching import Matcher
from .walk import Walk

CONVERSION = "through its conversions"
"""The reason of candidates that are conversions."""

_STEPWISE = GENERATOR | ASYNC_GENERATOR
"""Natures of functions whose results come item by item."""


class Converters:
    """The backends of a library that have conversions.

    Parameters
    ----------
    catalog : Catalog
        The library's backends.
    matcher : Matcher
        The library's.
    order : CandidateOrder
        The library's.
    block : str
        The environment variable that blocks backends, for messages.
    objects : dict of str to object
        The objects that have been imported, by identifier.
    """

    def __init__(
        self,
        catalog: Catalog,
        matcher: Matcher,
        order: CandidateOrder,
        block: str,
        objects: dict[str, Any],
    ) -> None:
        self._descriptions = catalog.descriptions
        self._matcher = matcher
        self._order = order
        self._block = block
        self._objects = objects
        self._names = frozenset(
            name
            for name, each in catalog.descriptions.items()
            if each.conversions is not None and not each.unmet
        )
        # For this rule, backends with conversions implement every function.
        names = [DEFAULT, *self._names]
        self._rule = GoldenRule(catalog, lambda _: names)
        self._candidates: dict[tuple[Function, str, bool], Candidate] = {}

    def _walk(self, function: Function, state: DispatchState, walk: Walk) -> Walk:
        """Return a walk on which the backends with conversions implement every function."""
        rule, matcher, order = self._rule, self._matcher, self._order
        # The default gets converted arguments. If it matches the original ones, that must not
        # exclude merely installed backends.
        state = state.replace(disabled=state.disabled | {DEFAULT})
        return Walk(function.identifier, state, walk.types, rule, matcher, order)

    def candidates(
        self, function: Function, state: DispatchState, walk: Walk
    ) -> Iterator[Candidate]:
        """Yield the candidates that convert, in the order of the call.

        In addition to the rules of matching, every foreign type must be a primary type of the
        backend, because only objects of these are converted. Generator functions have none.
        """
        if not self._names or function.nature & _STEPWISE:
            return
        needed = [self._matcher.match(cls).primary for cls in walk.foreign]
        steps = self._walk(function, state, walk).candidates(self._names)
        for step in steps:
            name = step.backend
            if name != DEFAULT and all(name in names for names in needed):
                yield self.candidate(function, name, name in state.prioritized)

    def judged(
        self, function: Function, state: DispatchState, walk: Walk
    ) -> Iterator[tuple[str, Candidate | None, str]]:
        """Yield every backend with conversions, in the order of the call, for explanations.

        Each comes with its candidate, or with None and the reason.
        """
        if not self._names:
            return
        from .explanation import Verdict  # few calls are converted
        from .reasons import reason

        found = self._walk(function, state, walk)
        for step in found.steps(self._descriptions, self._names):
            name = step.backend
            if name not in self._names:
                continue
            primary = [name in self._matcher.match(cls).primary for cls in walk.foreign]
            if step.verdict is Verdict.NO_MATCH and not found.counting:
                names = ", ".join(map(type_identifier, walk.foreign))
                yield name, None, f"it does not know {names}"
            elif step.verdict is not None:
                yield name, None, reason(found, step)
            elif not all(primary):
                cls = walk.foreign[primary.index(False)]
                yield name, None, f"{type_identifier(cls)} is no primary type of it"
            elif function.nature & _STEPWISE:
                yield name, None, "it is a generator function, whose items would not be converted"
            else:
                yield name, self.candidate(function, name, name in state.prioritized), ""

    def awaited(
        self, function: Function, state: DispatchState, walk: Walk
    ) -> tuple[list[str], bool]:
        """Return what may change the candidates that convert.

        The list names modules that are not imported yet; the flag is true if the registration of
        an abstract class may change them.
        """
        if not self._names:
            return [], False
        found = self._walk(function, state, walk)
        return found.awaited, found.depends_on_registration

    def candidate(self, function: Function, name: str, prioritized: bool = False) -> Candidate:
        """Return the candidate of a backend that has conversions."""
        key = function, name, prioritized
        candidate = self._candidates.get(key)
        if candidate is None:
            candidate = self._candidates[key] = Candidate(
                *(name, function, None, prioritized, self._block, CONVERSION, self._objects),
                conversions=self._descriptions[name].conversions,
            )
        return candidate
