"""Finds the candidates of calls, and the ending of calls that none of them takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .._discovery.catalog import Catalog
from .._dispatch_arguments import Function
from .._identifiers import DEFAULT, shown
from .._reporting.errors import BackendDeferredError
from .._state import DispatchState, StateKeeper
from .._type_patterns import TypePattern
from .adopted_function import AdoptedFunction
from .candidate import Candidate
from .candidate_order import CandidateOrder
from .converters import Converters
from .docstring_section import Documentation
from .fallback_policy import AdoptedEnding, Ending, Warned, is_operator, policy_of
from .golden_rule import GoldenRule
from .implementers import Implementers
from .matching import Matcher
from .walk import Walk
from .walk_step import Step

_NO_OPTIONS = DispatchState()


class Resolver:
    """Finds the candidates of calls.

    Everything that depends on a function alone is computed once, so that the cost of a new state
    does not grow with the number of backends.

    Parameters
    ----------
    catalog : Catalog
        The library's backends.
    keeper : StateKeeper
        Holds the tables, which are dropped when answers change.
    fallback : str, optional
        The fallback policy of the library.
    notify : callable, optional
        See `Candidate`.

    Attributes
    ----------
    warned : Warned
        The functions and types that the policy "warn" has warned about.
    converters : Converters
        The backends that convert.
    implementers, implementer_set : callable
        Return the backends that implement a function; see `Implementers`.
    """

    def __init__(
        self,
        catalog: Catalog,
        keeper: StateKeeper,
        fallback: str = "default",
        notify: Callable[[str, str], None] | None = None,
    ) -> None:
        self._notify = notify
        self.catalog = catalog
        self.keeper = keeper
        self.fallback = fallback
        self.warned = Warned()
        self.matcher = Matcher(catalog.descriptions)
        self._documentation = Documentation(catalog)
        found = Implementers(catalog)
        self.implementers, self.implementer_set = found.of, found.set_of
        self._rule = GoldenRule(catalog, found.of)
        self._block = catalog.environment.variable("BLOCK")
        self._order = CandidateOrder(catalog)
        self._objects: dict[str, Any] = {}
        self.converters = Converters(catalog, self.matcher, self._order, self._block, self._objects)
        self._candidates: dict[tuple[Function, str, bool, str], Candidate] = {}
        self._invoked: dict[tuple[Function, str, bool], Candidate] = {}

    def types(self, values: Iterable[Any], state: DispatchState) -> tuple[type, ...]:
        """Return the dispatch types of a call.

        Parameters
        ----------
        values : iterable
            The dispatch arguments that were given and are not None.
        state : DispatchState
            The state in force.

        Returns
        -------
        tuple of type
            The unique types in order of first appearance, and the state's type at the end.
        """
        return self.unique_types(map(type, values), state)

    def unique_types(self, types: Iterable[type], state: DispatchState) -> tuple[type, ...]:
        """Return the unique `types` in order of first appearance, and the state's type."""
        # By identity: a metaclass may define == and hash.
        unique = {id(cls): cls for cls in types}
        if state.type is not None:
            unique.setdefault(id(state.type), state.type)
        return tuple(unique.values())

    def check_type(self, cls: object) -> None:
        """Raise unless `cls` is a primary type of any backend, the library among them.

        Raises
        ------
        TypeError
            If it is not a class.
        UnknownTypeError
            If no backend has it as a primary type.
        """
        if not isinstance(cls, type):
            raise TypeError(f"type= takes a class, not {cls!r}")
        if not self.matcher.match(cls).primary:
            patterns = [
                str(pattern)
                for description in self.catalog.descriptions.values()
                for pattern in description.primary_types
            ]
            from .._reporting.unknown_names import UnknownTypeError

            raise UnknownTypeError(cls, dict.fromkeys(patterns))

    def forget_objects(self) -> None:
        """Import each implementation and `should_run` again when it is next called."""
        # Cleared, not replaced: all candidates and `converters` share this dictionary.
        self._objects.clear()

    def docs(self, identifier: str) -> str:
        """Return the section about backends for a function's docstring; may be empty."""
        names = [name for name in self.implementers(identifier) if name != DEFAULT]
        return self._documentation.section(identifier, names)

    def walk(self, function: Function, state: DispatchState, types: tuple[type, ...]) -> Walk:
        """Return the walk along the backends for calls of these types.

        Parameters
        ----------
        function : Function
            The library's function.
        state : DispatchState
            The state in force.
        types : tuple of type
            The dispatch types, including the state's type.
        """
        counts = function.counts if isinstance(function, AdoptedFunction) else None
        own = self._rule, self.matcher, self._order, counts
        return Walk(function.identifier, state, types, *own)

    def candidates(
        self, function: Function, state: DispatchState, walk: Walk
    ) -> Iterator[Candidate]:
        """Yield the candidates of a call in order; the default is the last.

        Parameters
        ----------
        function : Function
            The library's function.
        state : DispatchState
            The state in force.
        walk : Walk
            The walk for the types of the call.
        """
        ending = self.ending(function, state, walk)
        for step in walk.candidates(self.implementer_set(function)):
            if step.backend != DEFAULT:
                yield self.candidate(function, state, step)
                continue
            if ending is None or not ending.refuses:
                yield self.candidate(function, state, step)
            elif ending.converts:
                yield from self.converters.candidates(function, state, walk)
            return

    def ending(self, function: Function, state: DispatchState, walk: Walk) -> Ending | None:
        """Return how calls that no backend takes end; None if no policy applies."""
        policy = policy_of(function, state, self.fallback)
        if isinstance(function, AdoptedFunction) and policy is not None:
            may_pass = function.others_may_answer(walk.types)
            return AdoptedEnding(policy, walk.foreign, may_pass)
        if policy is None or not walk.foreign:
            return None
        return Ending(policy, walk.foreign, is_operator(function))

    @property
    def default_patterns(self) -> tuple[TypePattern, ...]:
        """The primary types of the library."""
        return self.catalog.descriptions[DEFAULT].primary_types

    def candidate(self, function: Function, state: DispatchState, step: Step) -> Candidate:
        """Return the candidate of a step of the walk."""
        name = step.backend
        prioritized = name in state.prioritized
        reason = step.why
        key = function, name, prioritized, reason
        candidate = self._candidates.get(key)
        if candidate is None:
            description = self.catalog.descriptions[name]
            implementation = description.implementation(function.identifier)
            candidate = self._candidates[key] = Candidate(
                name,
                function,
                implementation,
                prioritized,
                self._block,
                reason,
                self._objects,
                self._notify,
            )
        return candidate

    def invoked(
        self, function: Function, name: str, state: DispatchState, is_asked: bool = True
    ) -> Candidate:
        """Return the candidate that `invoke` names, whatever its types.

        Raises
        ------
        BackendDeferredError
            If the backend does not implement the function.
        """
        # Without the state: the candidate is the same in all states.
        candidate = self._invoked.get((function, name, is_asked))
        if candidate is None:
            implementers = self.implementers(function.identifier)
            if name not in implementers:
                names = [shown(each, self.catalog.default_name) for each in implementers]
                raise BackendDeferredError(
                    name,
                    function.identifier,
                    f"it does not implement it; these do: {', '.join(names)}",
                )
            candidate = self.candidate(function, state, Step(name, None)).invoked(is_asked)
            self._invoked[function, name, is_asked] = candidate
        return candidate

    def why_void(self, before: str, after: str) -> str:
        """Say why an edge between two backends takes part in no call; empty if it may."""
        return self._order.why_void(before, after, self._rule.placed | {DEFAULT})
