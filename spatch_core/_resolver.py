"""From dispatch types and dispatch state to the candidates, and to what the tables hold."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ._calling import Candidate, Chain, Demanded, Guard
from ._catalog import Catalog
from ._function import Function
from ._identifiers import DEFAULT, type_identifier
from ._matching import Matcher, TypeMatch
from ._state import DispatchState, StateKeeper
from ._trace import ExplainedBackend, Explanation, Verdict
from .exceptions import BackendDeferredError, UnknownTypeError


class Resolver:
    """Decides what a library's functions call.

    Parameters
    ----------
    catalog : Catalog
        The library's backends.
    keeper : StateKeeper
        Whose tables are forgotten when answers change.
    """

    def __init__(self, catalog: Catalog, keeper: StateKeeper) -> None:
        self.catalog = catalog
        self.keeper = keeper
        self.matcher = Matcher(catalog.descriptions)
        self._block = catalog.environment.variable("BLOCK")
        self._placed = _placed_on_purpose(catalog)
        self._implementers: dict[str, list[str]] = {}
        self._interested: dict[str, frozenset[str]] = {}
        self._loaded: dict[str, Any] = {}
        for name, description in catalog.descriptions.items():
            for identifier in description.functions:
                self._implementers.setdefault(identifier, []).append(name)
        rank = {name: position for position, name in enumerate(catalog.descriptions)}
        for names in self._implementers.values():
            names.append(DEFAULT)
            names.sort(key=rank.__getitem__)

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
            The unique types in order of first appearance, and the state's own at the end.
        """
        return self.unique_types(map(type, values), state)

    def unique_types(self, types: Iterable[type], state: DispatchState) -> tuple[type, ...]:
        """Return the unique `types` in order of first appearance, and the state's own."""
        unique: list[type] = []
        for cls in (*types, state.type):
            # By identity: a metaclass may define == and hash.
            if cls is not None and not any(cls is each for each in unique):
                unique.append(cls)
        return tuple(unique)

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
            raise UnknownTypeError(cls, dict.fromkeys(patterns))

    def implementers(self, identifier: str) -> Sequence[str]:
        """Return the names of the backends that implement a function, by priority."""
        return self._implementers.get(identifier, (DEFAULT,))

    def docs(self, identifier: str) -> str:
        """Return the section about backends for a function's docstring; may be empty."""
        lines = []
        for name in self.implementers(identifier):
            if name != DEFAULT:
                implementation = self.catalog.descriptions[name].functions[identifier]
                lines.append(f"{name}")
                text = implementation.additional_docs.strip() or "No further notes."
                lines += [f"    {line}".rstrip() for line in text.splitlines()]
        return "\n".join(["Backends", "--------", *lines]) if lines else ""

    def candidates(
        self, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> list[Candidate]:
        """Return who may answer a call, in order; the default is the last.

        Parameters
        ----------
        function : Function
            The library's function.
        state : DispatchState
            The state in force.
        types : tuple of type
            The dispatch types, the state's own among them.
        """
        found: list[Candidate] = []
        relevant = self._relevant(function, state, types)
        default_matches = self._default_matches(state, relevant)
        for name in state.ordered(self.implementers(function.identifier)):
            if name == DEFAULT:
                if default_matches:
                    return [*found, self.candidate(function, DEFAULT, state)]
            elif self._obstacle(name, state, relevant, default_matches) is None:
                found.append(self.candidate(function, name, state))
        return [*found, self.candidate(function, DEFAULT, state, _FALLBACK)]

    def candidate(
        self, function: Function, name: str, state: DispatchState, reason: str = ""
    ) -> Candidate:
        """Return the candidate of one backend, which must implement the function."""
        return Candidate(
            name,
            function,
            self.catalog.descriptions[name].functions.get(function.identifier),
            name in state.prioritized,
            self._block,
            reason,
            self._loaded,
        )

    def target(
        self, function: Function, state: DispatchState, types: tuple[type, ...]
    ) -> Callable[..., Any]:
        """Return what the table holds for a call of these types.

        That is the implementation itself where nothing has to be asked; whoever calls it
        tries the rest of the chain (`deferred`) should it return ``NotImplemented``.
        """
        # Read first: what is registered while the candidates are found makes them stale.
        token = abc.get_cache_token()
        chain = self.chain(function, state, types)
        awaited = [
            alias.module
            for cls in types
            for alias in self.matcher.match(cls).aliases
            if self._any_decides(self.matcher.backends_of(alias), function, state)
        ]
        if awaited or self._any_decides(self.matcher.abstract, function, state):
            return Guard(chain, token, awaited, self._renewal(function, state))
        return chain.target()

    def is_final(self, target: object) -> bool:
        """Whether what the table held has tried the whole chain by itself."""
        return isinstance(target, (Chain, Guard))

    def chain(self, function: Function, state: DispatchState, types: tuple[type, ...]) -> Chain:
        """Return the chain of all candidates."""
        return Chain(function, types, self.candidates(function, state, types), state.trace)

    def demanded(
        self, function: Function, name: str, state: DispatchState, types: tuple[type, ...]
    ) -> Chain:
        """Return the chain of one backend alone, whatever its types; it is not asked.

        Raises
        ------
        BackendDeferredError
            If it does not implement the function.
        """
        implementers = self.implementers(function.identifier)
        if name not in implementers:
            raise BackendDeferredError(
                name,
                function.identifier,
                f"it does not implement it; these do: {', '.join(implementers)}",
            )
        return Demanded(
            function, types, [_unasked(self.candidate(function, name, state))], state.trace
        )

    def explain(
        self,
        function: Function,
        state: DispatchState,
        types: tuple[type, ...],
        call: tuple[tuple[Any, ...], dict[str, Any]] | None,
    ) -> Explanation:
        """Say what would run for a call, and why; runs no implementation.

        Parameters
        ----------
        function : Function
            The library's function.
        state : DispatchState
            The state in force.
        types : tuple of type
            The dispatch types.
        call : tuple of (tuple, dict) or None
            The arguments, with which ``should_run`` is asked; None if they are not known.

        Raises
        ------
        ImplementationImportError
            If a ``should_run`` cannot be imported.
        """
        relevant = self._relevant(function, state, types)
        default_matches = self._default_matches(state, relevant)
        implementers = self.implementers(function.identifier)
        names = list(state.ordered(self.catalog.descriptions))
        if not default_matches:
            names.remove(DEFAULT)
            names.append(DEFAULT)

        explained: list[ExplainedBackend] = []
        selected: str | None = None
        runs = asked = False
        for name in names:
            judged: tuple[Verdict, str] | None = None
            if name != DEFAULT:
                judged = self._obstacle(name, state, relevant, default_matches)
                if name not in implementers and (judged is None or judged[0] is Verdict.LATER):
                    judged = Verdict.NO_IMPLEMENTATION, ""
            if judged is None and runs:
                judged = Verdict.LATER, ""
            elif judged is None:
                candidate = self.candidate(function, name, state)
                judged = self._ask(candidate, types, call)
                if judged is None:
                    runs = True
                    selected = None if asked else name
                    reason = "" if name != DEFAULT or default_matches else _FALLBACK
                    judged = Verdict.RUNS, "unless one above does" if asked else reason
                asked = asked or judged[0] is Verdict.ASKED
            explained.append(ExplainedBackend(name, *judged))
        return Explanation(function.identifier, types, selected, tuple(explained))

    def _ask(
        self,
        candidate: Candidate,
        types: tuple[type, ...],
        call: tuple[tuple[Any, ...], dict[str, Any]] | None,
    ) -> tuple[Verdict, str] | None:
        if candidate.implementation is None or candidate.implementation.should_run is None:
            return None
        if call is None:
            return Verdict.ASKED, f"{candidate.implementation.should_run} decides"
        args, kwargs = call
        reason = candidate.ask(candidate.context(types, args, kwargs), args, kwargs)
        return None if reason is None else (Verdict.DEFERS, reason)

    def _deciding(
        self, names: frozenset[str], function: Function, state: DispatchState
    ) -> Iterator[str]:
        """Yield those of `names` whose types matter for a function, in this state.

        The golden rule: a backend that nobody asked for, and that does not implement the
        function, changes nothing by knowing a type.
        """
        identifier = function.identifier
        interested = self._interested.get(identifier)
        if interested is None:
            interested = self._placed.union(self.implementers(identifier))
            self._interested[identifier] = interested
        for name in (*(names & interested), *state.prioritized):
            if name in names and (
                name == DEFAULT
                or state.is_active(name, self.catalog.descriptions[name].requires_opt_in)
            ):
                yield name

    def _any_decides(self, names: frozenset[str], function: Function, state: DispatchState) -> bool:
        return any(True for _ in self._deciding(names, function, state))

    def _relevant(
        self, function: Function, state: DispatchState, types: Iterable[type]
    ) -> list[_Relevant]:
        """Return the types that any of the deciding backends knows, and how they match.

        A type counts for those that do not know it, unless only backends know it that were
        merely installed, and that only accept it or are for Python's own floats or lists.
        That is the golden rule again.
        """
        relevant = []
        for cls in types:
            match = self.matcher.match(cls)
            known = False
            for name in self._deciding(match.known, function, state):
                known = True
                if (
                    name == DEFAULT
                    or self._is_asked_for(name, state)
                    or (name in match.primary and not match.is_builtin)
                ):
                    relevant.append(_Relevant(cls, match, counts=True))
                    break
            else:
                if known:
                    relevant.append(_Relevant(cls, match, counts=False))
        return relevant

    def _is_asked_for(self, name: str, state: DispatchState) -> bool:
        """Whether anybody wants the backend besides whoever installed it."""
        return name in state.prioritized or name in self._placed

    def _default_matches(self, state: DispatchState, relevant: Sequence[_Relevant]) -> bool:
        return DEFAULT not in state.disabled and _matches(DEFAULT, relevant)

    def _obstacle(
        self,
        name: str,
        state: DispatchState,
        relevant: Sequence[_Relevant],
        default_matches: bool,
    ) -> tuple[Verdict, str] | None:
        """Return why a backend is no candidate whatever it implements, None if it may be."""
        if name in state.disabled:
            return Verdict.INACTIVE, "it is disabled"
        if name not in state.prioritized:
            if self.catalog.descriptions[name].requires_opt_in:
                return Verdict.INACTIVE, f"it requires opt-in: prioritize={name!r}"
            # The golden rule: what was only installed takes no call from the library.
            if default_matches and not self._is_asked_for(name, state):
                return Verdict.LATER, (
                    "the library's own types are its own unless a backend is prioritized"
                )
        if not _matches(name, relevant):
            return Verdict.NO_MATCH, _mismatch(name, relevant)
        return None

    def _renewal(
        self, function: Function, state: DispatchState
    ) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
        def renew(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            self.matcher.forget()
            self.keeper.forget_tables()
            types = self.types(function.extract(args, kwargs), state)
            return self.chain(function, state, types)(*args, **kwargs)

        return renew


_FALLBACK = "nothing else answers"


class _Relevant(NamedTuple):
    """A dispatch type that somebody knows; `counts`: also for those that do not."""

    cls: type
    match: TypeMatch
    counts: bool


def _matches(name: str, relevant: Sequence[_Relevant]) -> bool:
    """Whether a backend knows every type that counts, and has one of them as primary."""
    return not _unknown(name, relevant) and any(name in each.match.primary for each in relevant)


def _unknown(name: str, relevant: Sequence[_Relevant]) -> list[type]:
    return [each.cls for each in relevant if each.counts and name not in each.match.known]


def _mismatch(name: str, relevant: Sequence[_Relevant]) -> str:
    if not relevant:
        return "no backend knows any of the types"
    unknown = _unknown(name, relevant)
    if unknown:
        return f"it does not know {', '.join(map(type_identifier, unknown))}"
    return "none of the types is a primary type of it"


def _placed_on_purpose(catalog: Catalog) -> frozenset[str]:
    """Return the backends that the library itself brings, or that ``SET_ORDER`` promotes.

    These are before the default on purpose.
    """
    found = {name for name, description in catalog.descriptions.items() if description.in_code}
    reached = {DEFAULT}
    pairs = set(catalog.environment.set_order)
    while pairs:
        step = {first for first, second in pairs if second in reached}
        if not step - reached:
            break
        reached |= step
    return frozenset(found | reached) - {DEFAULT}


def _unasked(candidate: Candidate) -> Candidate:
    """Return a candidate that was asked for by name."""
    implementation = candidate.implementation
    if implementation is not None:
        implementation = replace(implementation, should_run=None)
    return replace(candidate, implementation=implementation, prioritized=True)
